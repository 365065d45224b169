package binpack_test

import (
	"fmt"
	"log"
	"os"

	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/sample/binpack"
)

func ExampleReader() {
	file, err := os.Open("testdata/chess.binpack")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	r := binpack.NewReader(file)
	var s sample.Sample
	for range 2 {
		if err := r.Read(&s); err != nil {
			log.Fatal(err)
		}
		centipawns := sample.Convert(s.Score, r.Unit(), sample.CentipawnUnit)
		fmt.Println(s.Pos.FEN(), s.Pos.UCI(s.Move), centipawns)
	}
	// Output:
	// rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 e2e4 cp 162
	// rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1 e7e6 cp -38
}
