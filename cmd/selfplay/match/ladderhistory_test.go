package match

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/clitest"
	"github.com/crazyhouse-rl/selfplay/internal/dirlock"
	"github.com/crazyhouse-rl/selfplay/match"
	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/nnue/nnuetest"
	"github.com/crazyhouse-rl/selfplay/planes/arch/archtest"
	"github.com/crazyhouse-rl/selfplay/planes/onnx"
	"github.com/crazyhouse-rl/selfplay/selfplay"
)

// runWithNets is the directory of a run with some nets, which a process has locked as a
// loop does.
func runWithNets(t *testing.T, count int, variant string) string {
	t.Helper()
	var files [][]byte
	for g := 1; g <= count; g++ {
		n, err := nnuetest.Random(nnue.Narrow(16), uint64(g))
		if err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		if err := n.Write(&file); err != nil {
			t.Fatal(err)
		}
		files = append(files, file.Bytes())
	}
	return runWithFiles(t, nets.KindNNUE, variant, files...)
}

// runWithFiles is runWithNets of nets of a kind, given as their files.
func runWithFiles(t *testing.T, kind, variant string, files ...[]byte) string {
	t.Helper()
	dir := t.TempDir()
	store, err := nets.Open(filepath.Join(dir, "nets"))
	if err != nil {
		t.Fatal(err)
	}
	for i, file := range files {
		m := nets.Manifest{Schema: nets.ManifestSchema, Size: int64(len(file)), Kind: kind, Variant: variant, Generation: i + 1, Games: uint64(100 * (i + 1))}
		if m.ID, _, err = store.Put(bytes.NewReader(file), kind); err != nil {
			t.Fatal(err)
		}
		if err := store.PutManifest(m); err != nil {
			t.Fatal(err)
		}
	}
	lock, err := dirlock.Acquire(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { lock.Release() })
	return dir
}

type historyResult struct {
	Type, File string
	Nets       []struct {
		selfplay.RatedNet
		Before bool
	}
}

// ladderHistory rates the nets of a run by a ladder's file.
func ladderHistory(t *testing.T, dir, config string, args ...string) (r historyResult) {
	t.Helper()
	out, stderr, code := selfplayCommand(t, "", append([]string{"ladder", dir, "--history", "--config", config, "--json"}, args...)...)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &r); code != 0 || err != nil || r.Type != "history" {
		t.Fatalf("exit %d, error %v, output\n%s\nerror\n%s", code, err, out, stderr)
	}
	return r
}

// TestLadderHistory: the nets of a run are rated once, beside the process that has the
// run, and the games give the same ratings again when the file of ratings is lost.
func TestLadderHistory(t *testing.T) {
	dir, config := runWithNets(t, 3, "crazyhouse"), testLadder(t)
	rate := func(args ...string) historyResult {
		t.Helper()
		return ladderHistory(t, dir, config, args...)
	}
	shown := func(r historyResult) (text string) {
		for _, n := range r.Nets {
			text += fmt.Sprintf("%d before %t, ", n.Generation, n.Before)
		}
		return text
	}
	if got := shown(rate("--every", "2")); got != "1 before false, 3 before false, " {
		t.Errorf("every second net: found %s", got)
	}
	first := rate()
	if got := shown(first); got != "1 before true, 2 before false, 3 before true, " {
		t.Errorf("all nets: found %s", got)
	}
	kept, err := selfplay.ReadRatings(dir)
	if err != nil || len(kept.Nets) != 3 {
		t.Fatalf("kept %+v, error %v", kept, err)
	}
	for i, n := range kept.Nets {
		if n.Games != 12 || len(n.Scores) != 2 || n.Stored != uint64(100*n.Generation) || !reflect.DeepEqual(n, first.Nets[i].RatedNet) {
			t.Errorf("kept %+v, printed %+v", n, first.Nets[i])
		}
	}
	if err := os.Remove(first.File); err != nil {
		t.Fatal(err)
	}
	again := rate()
	for i := range again.Nets {
		n, before := again.Nets[i], first.Nets[i]
		n.Rated, n.Before = before.Rated, before.Before
		if !reflect.DeepEqual(n, before) {
			t.Errorf("from the games: found %+v, expected %+v", n, before)
		}
	}
	// More is asked, of one net more of its games are played, and others' ratings stay.
	if more := rate("--every", "3", "--games", "8"); shown(more) != "1 before true, 3 before true, " {
		t.Errorf("more games, which is no smaller error: found %s", shown(more))
	}
	margin := again.Nets[2].Margin()
	more := rate("--every", "3", "--margin", fmt.Sprint(margin-1), "--most", "40")
	if n := more.Nets[len(more.Nets)-1]; n.Before || n.Games <= 12 || n.Margin() >= margin {
		t.Errorf("found %+v, expected more games and an error below %v", n, margin)
	}

	out, _, code := selfplayCommand(t, "", "ladder", dir, "--history", "--config", config)
	if code != 0 || !strings.Contains(out, "generation  games stored") || strings.Count(out, "rated before") != 3 || !strings.Contains(out, "in "+first.File) {
		t.Errorf("exit %d, output\n%s", code, out)
	}
}

// TestLadderHistoryOfPlanes: plane nets play by tree search, and their ratings do not count
// as those of a ladder without its settings, which NNUE nets have.
func TestLadderHistoryOfPlanes(t *testing.T) {
	config := testLadder(t)
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config, bytes.Replace(text, []byte("nodes: 60"), []byte("nodes: 12"), 1), 0o644); err != nil {
		t.Fatal(err)
	}
	file, err := onnx.Encode(archtest.Net(t, "2x32", 1))
	if err != nil {
		t.Fatal(err)
	}
	dir := runWithFiles(t, nets.KindPlanes, "crazyhouse", file)
	narrow := ladderHistory(t, runWithNets(t, 1, "crazyhouse"), config, "--games", "2").Nets[0]
	wrong := narrow.RatedNet // what builds have kept that played plane nets by material
	wrong.Net = nets.Hash(file)
	ratings := selfplay.Ratings{Nets: []selfplay.RatedNet{wrong}}
	if err := os.MkdirAll(filepath.Join(dir, selfplay.LadderDir), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := ratings.Write(dir); err != nil {
		t.Fatal(err)
	}
	for _, before := range []bool{false, true} {
		n := ladderHistory(t, dir, config, "--games", "2").Nets[0]
		if n.Before != before || n.Net != wrong.Net || n.Games != 4 || n.Ladder == narrow.Ladder {
			t.Errorf("found %+v, expected another ladder than %s, rated before %t", n, narrow.Ladder, before)
		}
		logs, err := filepath.Glob(filepath.Join(dir, selfplay.LadderDir, n.Ladder, "*.jsonl"))
		if err != nil || len(logs) != 2 {
			t.Fatalf("found logs %q, error %v, expected one for each opponent", logs, err)
		}
		for _, path := range logs {
			f, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			log, err := match.ReadLog(f)
			f.Close()
			if err != nil || !strings.HasPrefix(log.Settings["player 1.settings"], "mcts, ") {
				t.Errorf("%s: found settings %q, error %v, expected those of tree search", path, log.Settings["player 1.settings"], err)
			}
		}
	}
}

// TestLadderHistoryRefuses: wrong use, a run of another variant, and nets that are not
// those of their names.
func TestLadderHistoryRefuses(t *testing.T) {
	config := testLadder(t)
	dir, chess, damaged := runWithNets(t, 1, "crazyhouse"), runWithNets(t, 1, "chess"), runWithNets(t, 2, "crazyhouse")
	history, err := selfplay.History(damaged, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(history[0].Path, history[1].Path); err != nil {
		t.Fatal(err)
	}
	busy := runWithNets(t, 1, "crazyhouse")
	busyLock, err := dirlock.Acquire(filepath.Join(busy, selfplay.LadderDir))
	if err != nil {
		t.Fatal(err)
	}
	defer busyLock.Release()
	_, file := clitest.NarrowNet(t)
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{dir, "--every", "2"}, 2, "found --every without --history"},
		{[]string{dir, "--history", "--log", t.TempDir()}, 2, "found --history with --log"},
		{[]string{dir, "--history", "--append", "x.md"}, 2, "found --history with --append"},
		{[]string{dir, dir, "--history"}, 2, "found 2 arguments, expected one"},
		{[]string{dir, "--history", "--every", "0"}, 2, "--every: found 0"},
		{[]string{file, "--history"}, 1, "expected the directory of a run"},
		{[]string{t.TempDir(), "--history"}, 1, "expected the directory of a run"},
		{[]string{chess, "--history"}, 2, "found nets of chess, expected crazyhouse"},
		{[]string{damaged, "--history"}, 1, "the file is damaged"},
		{[]string{busy, "--history"}, 1, "is in use by"},
	} {
		out, stderr, code := selfplayCommand(t, "", append([]string{"ladder", "--config", config}, c.args...)...)
		if code != c.code || !strings.Contains(stderr, c.want) {
			t.Errorf("%q: exit %d, expected %d with %q; output\n%s\nerror\n%s", c.args, code, c.code, c.want, out, stderr)
		}
	}
}
