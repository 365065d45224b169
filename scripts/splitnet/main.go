// Command splitnet prepares a network file for package builtin. It reads the file from
// standard input and writes its bytes in the order of builtin.Split, for zstd to compress.
//
//	go run ./scripts/splitnet < NET | zstd --ultra -22 --zstd=wlog=24,mml=7 > nnue/builtin/crazyhouse.nnue.zst
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
