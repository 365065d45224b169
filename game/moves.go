package game

import (
	"fmt"
	"strings"

	"github.com/crazyhouse-rl/selfplay/chess"
)

// MovesText writes moves from p in SAN with their numbers: "3. Nf3 N@h3 4. gxh3".
func MovesText(p *chess.Position, moves []chess.Move) string {
	var words []string
	at := *p
	for i, m := range moves {
		switch {
		case at.SideToMove() == chess.White:
			words = append(words, fmt.Sprintf("%d.", at.FullmoveNumber()))
		case i == 0:
			words = append(words, fmt.Sprintf("%d...", at.FullmoveNumber()))
		}
		words = append(words, at.SAN(m))
		at.Make(m)
	}
	return strings.Join(words, " ")
}
