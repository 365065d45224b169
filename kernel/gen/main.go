// Command gen writes the assembly of package kernel and the Go declarations
// that go with it. "go generate ./kernel" runs it:
//
//	gen -set int|float|conv|back -out file.s -stubs file.go -pkg kernel
//
// The flags other than -set are those of the assembler package avo.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/mmcloughlin/avo/build"
)

// sets are the groups of kernels; each fills one file.
var sets = map[string]func(){
	"int":   intKernels,
	"float": floatKernels,
	"conv":  convKernels,
	"back":  convBackKernels,
}

func main() {
	set := flag.String("set", "", "which kernels to write: int, float, conv or back")
	flag.Parse()
	write, ok := sets[*set]
	if !ok {
		fmt.Fprintf(os.Stderr, "gen: found -set %q, expected int, float, conv or back\n", *set)
		os.Exit(2)
	}
	build.ConstraintExpr("!purego")
	write()
	build.Generate()
}
