package main

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// function begins a function whose arguments do not escape.
func function(name, signature, doc string) {
	build.TEXT(name, attr.NOSPLIT, signature)
	build.Pragma("noescape")
	build.Doc(name + " " + doc)
}

// param loads an integer or pointer argument.
func param(name string) reg.Register { return build.Load(build.Param(name), build.GP64()) }

// constants defines read-only data, once per name, and returns where it lies.
func constants[T uint32 | uint64](name string, values ...T) operand.Mem {
	if m, ok := defined[name]; ok {
		return m
	}
	m := build.GLOBL(name, attr.RODATA|attr.NOPTR)
	offset := 0
	for _, v := range values {
		var c operand.Constant
		switch v := any(v).(type) {
		case uint32:
			c = operand.U32(v)
		case uint64:
			c = operand.U64(v)
		}
		build.DATA(offset, c)
		offset += c.Bytes()
	}
	defined[name] = m
	return m
}

var defined = map[string]operand.Mem{}
