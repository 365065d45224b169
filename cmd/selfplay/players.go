package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/crazyhouse-rl/selfplay/ab"
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/match"
	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/search"
	"github.com/crazyhouse-rl/selfplay/uci"
)

// playersHelp says how a player is written on the command line.
const playersHelp = `A player is a net file, the word "material", or uci:COMMAND[,OPTION=VALUE]... for
any UCI engine, e.g. uci:fairy-stockfish,Hash=64.`

// contestant makes a player of its name on the command line.
func contestant(ctx context.Context, text string, v *chess.Variant, limits search.Limits, hashMB int) (match.Contestant, error) {
	c := match.Contestant{Name: text, Net: text, Limits: limits}
	if command, ok := strings.CutPrefix(text, "uci:"); ok {
		cfg, err := engineConfig(command, v)
		if err != nil {
			return c, err
		}
		c.Name, c.Settings = filepath.Base(cfg.Command), command
		c.New = func() (game.Player, error) { return uci.Start(ctx, cfg) }
		return c, nil
	}
	evaluator, network, err := newEvaluator(text, v)
	if err != nil {
		return c, err
	}
	if network != nil {
		if c.Net, err = nets.HashFile(text); err != nil {
			return c, err
		}
		c.Name = strings.TrimSuffix(filepath.Base(text), filepath.Ext(text))
		c.Name = c.Name[:min(len(c.Name), 32)]
	}
	c.Settings = fmt.Sprintf("hash %d MiB", hashMB)
	c.New = func() (game.Player, error) {
		return ab.New(evaluator, ab.Options{HashMB: hashMB, Threads: 1}), nil
	}
	return c, nil
}

// engineConfig reads COMMAND[,OPTION=VALUE]...; the command's words are
// separated by spaces.
func engineConfig(text string, v *chess.Variant) (uci.ClientConfig, error) {
	parts := strings.Split(text, ",")
	words := strings.Fields(parts[0])
	if len(words) == 0 {
		return uci.ClientConfig{}, fmt.Errorf("%w: player: found %q, expected uci:COMMAND", errUsage, "uci:"+text)
	}
	cfg := uci.ClientConfig{Command: words[0], Args: words[1:], Variant: v, Options: map[string]string{}}
	for _, part := range parts[1:] {
		name, value, ok := strings.Cut(part, "=")
		if !ok {
			return uci.ClientConfig{}, fmt.Errorf("%w: player %s: found option %q, expected NAME=VALUE", errUsage, words[0], part)
		}
		cfg.Options[name] = value
	}
	return cfg, nil
}
