// Command writer writes what this program promises to keep: games into a replay buffer and
// into a spool, and a file of state. What it has promised so far are the names in the
// directory promised.
//
//	writer write|open|careless DIR
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/internal/durable"
	"github.com/crazyhouse-rl/selfplay/replay"
)

const games = 24

func main() {
	dir := os.Args[2]
	work := map[string]func(string) error{"write": write, "open": open, "careless": careless}[os.Args[1]]
	if err := work(dir); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func promise(dir, what string) error {
	err := os.MkdirAll(filepath.Join(dir, "promised"), 0o755)
	if err == nil {
		err = os.Mkdir(filepath.Join(dir, "promised", what), 0o755)
	}
	if os.IsExist(err) {
		return nil
	}
	return err
}

func record(i int) (id string, encoded []byte, err error) {
	g := &game.Game{ID: fmt.Sprintf("game-%06d", i), Variant: chess.Crazyhouse, Start: chess.Crazyhouse.Start(), Outcome: chess.Draw, Reason: game.PlyLimit,
		Limits: fmt.Sprintf("%0200d", i), Nets: [2]string{"material", "material"}}
	encoded, err = game.Encode(nil, g)
	return g.ID, encoded, err
}

func buffer(dir string) (*replay.Buffer, error) {
	return replay.Open(filepath.Join(dir, "replay"), replay.Options{Variant: chess.Crazyhouse, MaxBytes: 1 << 20, SegmentBytes: 4 << 10, Window: replay.WindowRule{Min: 100, Exponent: 0.65, Slope: 0.4}})
}

func write(dir string) error {
	spool := filepath.Join(dir, "spool")
	if err := durable.MkdirAll(spool, 0o755); err != nil {
		return err
	}
	b, err := buffer(dir)
	if err != nil {
		return err
	}
	files := durable.NewRecycler(spool, games)
	var batch [][]byte
	var ids []string
	for i := range games {
		id, encoded, err := record(i)
		if err != nil {
			return err
		}
		batch, ids = append(batch, encoded), append(ids, id)
		var added []int // of three games the first alone, the others together
		switch i % 3 {
		case 0:
			added = []int{0}
		case 1:
			continue
		case 2:
			added = []int{1, 2}
		}
		var written []durable.File
		for _, k := range added {
			written = append(written, durable.File{Name: ids[k] + ".game", Data: batch[k]})
		}
		if err := files.Write(written...); err != nil {
			return err
		}
		for _, k := range added {
			if err := promise(dir, ids[k]); err != nil {
				return err
			}
		}
		if i%3 == 0 {
			continue
		}
		if _, err := b.Append(batch); err != nil {
			return err
		}
		if err := durable.WriteFile(filepath.Join(dir, "state"), fmt.Appendf(nil, "%d\n", i)); err != nil {
			return err
		}
		if err := promise(dir, fmt.Sprintf("state-%06d", i)); err != nil {
			return err
		}
		for _, id := range ids {
			if err := files.Remove(id + ".game"); err != nil {
				return err
			}
		}
		batch, ids = nil, nil
	}
	return b.Close()
}

// open takes up what a killed process left, and removes the games from the spool that the
// buffer says it has.
func open(dir string) error {
	if err := durable.RemoveTemps(filepath.Join(dir, "spool")); err != nil {
		return err
	}
	b, err := buffer(dir)
	if err != nil {
		return err
	}
	var ids []string
	for i := range games {
		ids = append(ids, fmt.Sprintf("game-%06d", i))
	}
	for i, state := range b.Known(ids) {
		if state == replay.Stored {
			if err := os.RemoveAll(filepath.Join(dir, "spool", ids[i]+".game")); err != nil {
				return err
			}
		}
	}
	return nil // killed
}

// careless promises a file before it is synced.
func careless(dir string) error {
	if err := os.WriteFile(filepath.Join(dir, "state"), []byte("5\n"), 0o644); err != nil {
		return err
	}
	return promise(dir, "state-000005")
}
