package selfplay

import (
	"context"
	"slices"

	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/search"
)

// research searches the positions of a game again that surprised the search most and
// gives their plies the scores. The last one comes first, so that what was found later
// in the game is in the transposition table.
func (m *gameMaker) research(ctx context.Context, player game.Player, g *game.Game) error {
	c := m.settings
	if c.ResearchShare == 0 {
		return nil
	}
	plies := game.MostSurprising(g, c.ResearchShare)
	if err := player.NewGame(); err != nil {
		return err
	}
	line := g.Line()
	for _, i := range slices.Backward(plies) {
		for line.Len() > i {
			line.Pop()
		}
		r, err := player.Search(ctx, line, researchLimits(c))
		if err == nil {
			err = ctx.Err() // the answer was cut short
		}
		if err != nil {
			return err
		}
		g.Plies[i].Score = max(-search.MateScore, min(search.MateScore, r.Score))
	}
	g.Limits = game.ResearchText(g.Limits, researchLimits(c), plies)
	return nil
}

// researchLimits returns the limits of the searches of research.
func researchLimits(c configs.Actor) search.Limits { return search.Limits{Nodes: c.ResearchNodes} }

// limitsTexts returns the limits texts that games with these settings may have, without
// plies that were searched again: which of them follows from the net.
func limitsTexts(c configs.Actor) (texts []string) {
	stages, _ := c.NodeStages() // others have no settings
	for _, s := range append([]configs.NodeStage{{Nodes: c.Nodes}}, stages...) {
		c.Nodes = s.Nodes
		text := game.QuickText(game.LimitsText(limitsOf(c)), c.QuickNodes)
		if c.ResearchShare > 0 {
			text = game.ResearchText(text, researchLimits(c), nil)
		}
		texts = append(texts, text)
	}
	return texts
}
