// Splitnet prepares a network file for the program: it reads it from standard input
// and writes it as builtin.Split has it, for zstd to compress.
//
//	go run ./scripts/splitnet < NET | zstd --ultra -22 --zstd=wlog=24 > nnue/builtin/crazyhouse.nnue.zst
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/crazyhouse-rl/selfplay/nnue/builtin"
)

func main() {
	file, err := io.ReadAll(os.Stdin)
	if err == nil {
		_, err = os.Stdout.Write(builtin.Split(file))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "splitnet:", err)
		os.Exit(1)
	}
}
