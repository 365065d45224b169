package match

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"

	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/internal/durable"
	"github.com/crazyhouse-rl/selfplay/internal/engine"
	"github.com/crazyhouse-rl/selfplay/match"
	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/nnue/netstat"
	"github.com/crazyhouse-rl/selfplay/player"
)

// Options of Fairy-Stockfish.
const (
	useNNUE  = "Use NNUE"
	evalFile = "EvalFile"
)

// gainNets reads the nets whose gain can be measured, those of Fairy-Stockfish's
// architecture; the others are nil. It is called before the first game, as a directory's
// net is another one later, and the nets are those that base plays with.
func gainNets(ladder *configs.Ladder, players []player.Spec, base match.Config) ([]*player.Net, error) {
	all := make([]*player.Net, len(players))
	for i, s := range players {
		if ladder.Gain == nil || s.Search != player.AlphaBeta {
			continue
		}
		net, err := player.ReadNet(s.Net, base.Variant)
		if err != nil {
			return nil, err
		}
		if net.NNUE == nil || netstat.Fits(net.NNUE.Architecture(), nnue.FairyFor(base.Variant)) != nil {
			continue
		}
		if net.ID != base.Players[i].Net {
			return nil, fmt.Errorf("%s: found net %.12s a moment ago and %.12s now, expected one net: start again", s.Net, base.Players[i].Net, net.ID)
		}
		all[i] = net
	}
	return all, nil
}

// gain measures a net of [gainNets] in Fairy-Stockfish, against that program's classical
// evaluation. Why there is no gain is a sentence; no net has neither. name may be empty.
func gain(ctx context.Context, p *ladderPrinter, ladder *configs.Ladder, name string, net *player.Net, base match.Config, dir string) (*match.LadderRating, string, error) {
	if net == nil {
		return nil, "", nil
	}
	// The engine takes a net only from a file that is named after the variant, and
	// finds it wherever the program was started.
	file, err := filepath.Abs(filepath.Join(dir, fmt.Sprintf("%s-%.12s.nnue", base.Variant.Name, net.ID)))
	if err != nil {
		return nil, "", err
	}
	if err := writeNet(net.NNUE, file); err != nil {
		return nil, "", err
	}
	with, without := *ladder.Gain, *ladder.Gain
	with.Options = withOptions(ladder.Gain.Options, useNNUE, "true", evalFile, file)
	without.Name, without.Options = "classical", withOptions(ladder.Gain.Options, useNNUE, "false")
	if err := checkEngine(ctx, with, "", base.Variant); err != nil {
		if !errors.Is(err, engine.ErrOption) && !errors.Is(err, engine.ErrStart) {
			return nil, "", err
		}
		return nil, fmt.Sprintf("no gain in Fairy-Stockfish: %v. It needs a version that loads nets, named by --gain-engine.", err), nil
	}
	makers, err := player.LoadAll(ctx, []player.Spec{with, without}, base.Variant, player.Defaults{})
	if err != nil {
		return nil, "", err
	}
	us := match.NewContestant(makers[0])
	us.Name = cmp.Or(name, net.Name) + " in " + filepath.Base(with.Command[0])
	// The file's path may change from one call to the next, the net in it does not.
	us.Net, us.Settings = net.ID, "net of "+net.ID
	l := climb(ladder, base, us, []match.Anchor{{Contestant: match.NewContestant(makers[1])}}, dir)
	r, err := p.rate(ctx, l)
	return &r, "", err
}

// withOptions returns options with others, as names and values in turn.
func withOptions(options map[string]string, others ...string) map[string]string {
	all := maps.Clone(options)
	if all == nil {
		all = map[string]string{}
	}
	for i := 0; i < len(others); i += 2 {
		all[others[i]] = others[i+1]
	}
	return all
}

// writeNet writes a net unless the file holds it.
func writeNet(n *nnue.Network, path string) error {
	var b bytes.Buffer
	if err := n.Write(&b); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if text, err := os.ReadFile(path); err == nil && bytes.Equal(text, b.Bytes()) {
		return nil
	}
	return durable.WriteFile(path, b.Bytes())
}
