package server_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/crazyhouse-rl/selfplay/uci/server"
)

func ExampleServe() {
	commands := `isready
position startpos moves e2e4 e7e5 e4e5
quit
`
	if err := server.Serve(context.Background(), strings.NewReader(commands), os.Stdout, server.Options{}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// readyok
	// info string position ends before move 3, in rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR[] w KQkq - 0 2: chess: move "e4e5": illegal move: found a move against the rules, expected a legal move of white
}
