package uci

import (
	"strings"

	"github.com/crazyhouse-rl/selfplay/chess"
)

// ParseMove reads a legal move of p as [chess.Position.ParseUCI] does, and also one whose
// promotion has its letter in upper case, as some engines and GUIs write it.
func ParseMove(p *chess.Position, text string) (chess.Move, error) {
	if len(text) == 5 {
		text = text[:4] + strings.ToLower(text[4:])
	}
	return p.ParseUCI(text)
}
