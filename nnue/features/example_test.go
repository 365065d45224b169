package features_test

import (
	"fmt"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/nnue/features"
)

func ExampleParse() {
	set, err := features.Parse("King*(P + Hand) + PH", chess.Crazyhouse)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(set)
	fmt.Println(set.Size(), "features, of which", len(features.Dead(set)), "are never active")

	_, err = features.Parse("All + Hnad", chess.Crazyhouse)
	fmt.Println(err)
	_, err = features.Parse("All + Hand", chess.Chess)
	fmt.Println(err)
	// Output:
	// King * (P + Hand) + PH
	// 52352 features, of which 9160 are never active
	// features: column 7: unknown feature set: found "Hnad", expected a block such as "Hand"
	// features: column 7: feature set needs hands: found "Hand" for chess, expected a variant in which captures go to hand
}

// A search keeps what a network sums up to date by what its moves change.
func ExampleLinear() {
	set, _ := features.Parse("All + Hand", chess.Crazyhouse)
	linear := set.(features.Linear)
	p, _ := chess.ParseFEN(chess.Crazyhouse, "4k3/8/8/8/8/8/8/4K3[N] w - - 0 1")
	m, _ := p.ParseUCI("N@f3")

	change := features.Changed(&p, m)
	added, removed := linear.Append(&change, chess.White, p.King(chess.White), nil, nil)
	fmt.Println("on", added, "off", removed)
	// Output:
	// on [149] off [800]
}
