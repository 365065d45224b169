// Command arm64 writes the arm64 assembly of package kernel and the Go
// declarations that go with it, as gen does for amd64. "go generate ./kernel" runs
// it:
//
//	arm64 -set int|float|conv|back -out file.s -stubs file.go
package main

import (
	"flag"
	"fmt"
	"os"
)

// sets are the groups of kernels; each fills one file.
var sets = map[string]func(*file){
	"int":   intKernels,
	"float": floatKernels,
	"conv":  convKernels,
	"back":  convBackKernels,
}

func main() {
	set := flag.String("set", "", "which kernels to write: int, float, conv or back")
	out := flag.String("out", "", "file of the assembly")
	stubs := flag.String("stubs", "", "file of the declarations")
	flag.Parse()
	write, ok := sets[*set]
	if !ok || *out == "" || *stubs == "" {
		fmt.Fprintf(os.Stderr, "arm64: found -set %q -out %q -stubs %q, expected a set, int, float, conv or back, and two files\n", *set, *out, *stubs)
		os.Exit(2)
	}
	f := newFile(*set)
	write(f)
	if err := f.save(*out, *stubs); err != nil {
		fmt.Fprintln(os.Stderr, "arm64:", err)
		os.Exit(1)
	}
}
