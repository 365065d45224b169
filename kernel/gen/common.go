package main

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
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
