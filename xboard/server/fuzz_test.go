package server

import (
	"context"
	"strings"
	"testing"

	uci "github.com/crazyhouse-rl/selfplay/uci/server"
)

// FuzzServe gives the server any bytes as a session. Whatever they are, it ends with
// them and writes whole lines.
func FuzzServe(f *testing.F) {
	for _, seed := range []string{
		"protover 2\nnew\nvariant crazyhouse\nlevel 0 0:01 0.1\ntime 10\notim 10\npost\nhard\ne2e4\nping 1\nusermove d2d4\n?\nquit\n",
		"force\nsetboard 7k/8/6KP/8/8/8/8/8 w - - 0 1\nsd 2\ngo\nundo\nremove\nhint\nbk\nresult 1-0 {x}\n",
		"variant crazyhouse\nanalyze\n.\ne2e4\nundo\nsetboard 7k/8/6KP/8/8/8/8/8[Q] w - - 0 1\nexit\nplayother\nst 0.01\nnps 100\ngo\n",
		"memory 1\ncores 1\noption MultiPV=3\noption Skill Level=2\noption x\nlevel 40 5 0\nst -1\nsd 0\ntime x\nping\n\x00\xff",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 2048 || strings.Contains(text, "/") && strings.Contains(strings.ToLower(text), "file") {
			return
		}
		var out strings.Builder
		o := uci.Options{XBoard: New, MaxHashMB: 1, MaxThreads: 2}
		if err := uci.Serve(context.Background(), strings.NewReader("xboard\n"+text), &out, o); err != nil {
			t.Fatal(err)
		}
		if s := out.String(); s != "" && !strings.HasSuffix(s, "\n") {
			t.Errorf("half a line at the end of %q", s)
		}
	})
}
