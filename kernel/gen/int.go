package main

import (
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
)

// intKernels writes the kernels of quantised networks.
func intKernels() {
	prefetch()
}

func prefetch() {
	function("prefetch", "func(p *byte)", "asks for the cache line at p.")
	p := param("p")
	build.PREFETCHT0(operand.Mem{Base: p})
	build.RET()
}
