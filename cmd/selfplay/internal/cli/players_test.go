package cli

import (
	"errors"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/player"
	"github.com/crazyhouse-rl/selfplay/search"
)

// As many players at a time as have room in memory are allowed.
func TestAtATime(t *testing.T) {
	most := player.MaxHashMB()
	d := player.Defaults{Limits: search.Limits{Nodes: 1}, HashMB: most / 3}
	m, err := LoadPlayer(t.Context(), nil, player.Material, chess.Crazyhouse, d)
	if err != nil {
		t.Fatal(err)
	}
	engine, err := LoadPlayer(t.Context(), nil, "uci:none", chess.Crazyhouse, d)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		n      int
		makers []*player.Maker
		want   string // of the error; empty: none
	}{
		{3, []*player.Maker{m}, ""},
		{4, []*player.Maker{m}, "--threads: found 4 with tables of"},
		{2, []*player.Maker{m, m}, "--threads: found 2 with tables of"},
		{1024, []*player.Maker{engine}, ""},
		{1025, []*player.Maker{engine}, "--threads: found 1025, expected 1 to 1024"},
		{0, nil, "--threads: found 0, expected 1 to 1024"},
	} {
		err := AtATime("threads", tc.n, tc.makers...)
		if tc.want == "" && err != nil || tc.want != "" && (!errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%d of %d players: error %v, expected %q", tc.n, len(tc.makers), err, tc.want)
		}
	}
}
