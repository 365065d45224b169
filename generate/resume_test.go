package generate

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/dataset"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/internal/dirlock"
	"github.com/crazyhouse-rl/selfplay/internal/golden"
	"github.com/crazyhouse-rl/selfplay/search"
)

// counted stops a run after a number of searches.
type counted struct {
	game.Player
	left *atomic.Int64
	stop context.CancelFunc
}

func (c counted) Search(ctx context.Context, line *chess.Line, lim search.Limits) (search.Result, error) {
	if c.left.Add(-1) == 0 {
		c.stop()
	}
	return c.Player.Search(ctx, line, lim)
}

// Quiet keeps the games those of the player.
func (c counted) Quiet(line *chess.Line) (static, settled search.Score) {
	return c.Player.(search.Quieter).Quiet(line)
}

// stopAfter runs until so many searches were made.
func stopAfter(t *testing.T, cfg Config, searches int64) error {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var left atomic.Int64
	left.Store(searches)
	cfg.New = func() (game.Player, error) {
		p, err := newEngine()
		return counted{p, &left, stop}, err
	}
	_, err := Run(ctx, cfg)
	return err
}

// contents returns the files of a run, one after the other, and their number.
func contents(t *testing.T, path string) (all []byte, files int) {
	t.Helper()
	for {
		b, err := os.ReadFile(fileName(path, files))
		if errors.Is(err, os.ErrNotExist) {
			return all, files
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b...)
		files++
	}
}

func TestInterruptedRunsEndTheSame(t *testing.T) {
	for _, f := range []dataset.Format{dataset.Chain, dataset.Bin, dataset.Plain} {
		t.Run(f.String(), func(t *testing.T) {
			cfg := config(t, f)
			cfg.SaveEvery = 250
			mustRun(t, cfg)
			want, files := contents(t, cfg.Output)
			if files < 2 {
				t.Fatalf("%d files", files)
			}
			cfg.Output = filepath.Join(t.TempDir(), "stopped."+f.String())
			cfg.Threads, cfg.SaveInterval = 2, 5*time.Millisecond
			stops := 0
			for searches := int64(100); ; searches += 150 {
				err := stopAfter(t, cfg, searches)
				if err == nil {
					break
				}
				if !errors.Is(err, context.Canceled) {
					t.Fatal(err)
				}
				stops++
			}
			if got, n := contents(t, cfg.Output); !bytes.Equal(got, want) || n != files || stops < 3 {
				t.Errorf("after %d stops %d bytes in %d files, want %d in %d", stops, len(got), n, len(want), files)
			}
			cfg.Count *= 2
			mustRun(t, cfg)
			if got, _ := contents(t, cfg.Output); len(got) < len(want)*3/2 {
				t.Errorf("%d bytes after a greater count, %d before", len(got), len(want))
			}
		})
	}
}

// A file cut anywhere, as by a crash, or with anything behind its end, is completed
// to what it would have been.
func TestTornChain(t *testing.T) {
	cfg := config(t, dataset.Chain)
	cfg.Count = 150
	short, _ := mustRun(t, cfg)
	cfg.Count = 300
	want, _ := mustRun(t, cfg)
	for _, torn := range [][]byte{nil, short[:3], short[:40], short[:len(short)-1], short, append(bytes.Clone(short), "ZHCB junk"...), want[:len(want)-7]} {
		path := filepath.Join(t.TempDir(), "torn.chain")
		if err := os.WriteFile(path, torn, 0o666); err != nil {
			t.Fatal(err)
		}
		cfg.Output = path
		if got, _ := mustRun(t, cfg); !bytes.Equal(got, want) {
			t.Errorf("torn at %d: %d bytes, want %d", len(torn), len(got), len(want))
		}
	}
}

// What a crash leaves behind the length in the state is cut off.
func TestTornBin(t *testing.T) {
	cfg := config(t, dataset.Bin)
	cfg.Count = 150
	short, _ := mustRun(t, cfg)
	state := read(t, stateName(cfg.Output))
	cfg.Count = 300
	want, _ := mustRun(t, cfg)
	for _, n := range []int{len(short), len(short) + 1, len(short) + 72, len(want)} {
		if err := errors.Join(os.WriteFile(cfg.Output, want[:n], 0o666), os.WriteFile(stateName(cfg.Output), state, 0o666)); err != nil {
			t.Fatal(err)
		}
		if got, _ := mustRun(t, cfg); !bytes.Equal(got, want) {
			t.Errorf("%d bytes: %d, want %d", n, len(got), len(want))
		}
	}
	if err := os.Truncate(cfg.Output, 72); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), cfg); !errors.Is(err, ErrDamaged) {
		t.Errorf("a file cut short: %v", err)
	}
}

func TestOtherRunsAreRefused(t *testing.T) {
	for _, f := range []dataset.Format{dataset.Chain, dataset.Bin, dataset.Plain} {
		cfg := config(t, f)
		cfg.Count = 50
		before, _ := mustRun(t, cfg)
		if seed, found, err := FindSeed(cfg.Output, f); seed != cfg.Seed || !found || err != nil {
			t.Errorf("%v: seed %d, %v, %v", f, seed, found, err)
		}
		other := cfg
		other.EvalLimit++
		if _, err := Run(t.Context(), other); !errors.Is(err, ErrOther) {
			t.Errorf("%v: %v", f, err)
		}
		if !bytes.Equal(read(t, cfg.Output), before) {
			t.Errorf("%v: the file has changed", f)
		}
		foreign := filepath.Join(t.TempDir(), "foreign."+f.String())
		if err := os.WriteFile(foreign, []byte("something else, and enough of it to be no header\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		cfg.Output = foreign
		if _, err := Run(t.Context(), cfg); err == nil {
			t.Errorf("%v: a foreign file was taken", f)
		}
		if got := read(t, foreign); string(got[:9]) != "something" {
			t.Errorf("%v: a foreign file has changed", f)
		}
	}
}

// TestFilesOfOthers: a run of several files takes the place of none that it has not written.
func TestFilesOfOthers(t *testing.T) {
	cfg := config(t, dataset.Bin)
	cfg.Count, cfg.SaveEvery = 300, 50
	whole := cfg
	whole.Output = filepath.Join(t.TempDir(), "x.bin")
	mustRun(t, whole)
	for k := 1; k <= 2; k++ {
		name := fileName(cfg.Output, k)
		if err := os.WriteFile(name, []byte("precious"), 0o666); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if _, err := Run(t.Context(), cfg); !errors.Is(err, ErrOther) || strings.Contains(err.Error(), "closed") {
				t.Errorf("file %d: found error %v, expected %v", k, err, ErrOther)
			}
		}
		if text := read(t, name); string(text) != "precious" {
			t.Errorf("file %d has changed", k)
		}
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	mustRun(t, cfg)
	if !bytes.Equal(read(t, fileName(cfg.Output, 2)), read(t, fileName(whole.Output, 2))) {
		t.Error("the files differ")
	}
}

// TestSecondFileOfOthers: a run of one file leaves alone what others have named as its
// second would be, and goes on with a second file of its own.
func TestSecondFileOfOthers(t *testing.T) {
	cfg := config(t, dataset.Chain)
	cfg.Count = 50
	second := fileName(cfg.Output, 1)
	f, err := os.Create(second)
	if err != nil {
		t.Fatal(err)
	}
	if err := dirlock.LockFile(f); err != nil {
		t.Fatal(err)
	}
	mustRun(t, cfg)
	if _, err := f.WriteString("precious"); err != nil {
		t.Fatal(err)
	}
	cfg.Count = 100
	mustRun(t, cfg)
	if text := read(t, second); string(text) != "precious" {
		t.Errorf("the file of another process is %q", text)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}

	other := cfg
	other.Seed, other.Output = cfg.Seed+1, second
	if err := os.Remove(second); err != nil {
		t.Fatal(err)
	}
	want, _ := mustRun(t, other)
	cfg.Count = 150
	mustRun(t, cfg)
	if !bytes.Equal(read(t, second), want) {
		t.Error("the file of another run has changed")
	}

	own := config(t, dataset.Chain)
	own.Count, own.SaveEvery = 160, 60
	mustRun(t, own)
	first := read(t, own.Output)
	own.Count, own.SaveEvery = 260, 0
	mustRun(t, own)
	if _, files := contents(t, own.Output); files != 2 || !bytes.Equal(read(t, own.Output), first) {
		t.Errorf("%d files, expected to go on with the second of two", files)
	}
}

// TestSecondFileLocked: a file that another process has is not cut off, whichever of the
// run's it is.
func TestSecondFileLocked(t *testing.T) {
	for _, format := range []dataset.Format{dataset.Chain, dataset.Bin} {
		cfg := config(t, format)
		cfg.Count, cfg.SaveEvery = 160, 60
		mustRun(t, cfg)
		f, err := os.OpenFile(fileName(cfg.Output, 1), os.O_RDWR|os.O_APPEND, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString("more"); err != nil {
			t.Fatal(err)
		}
		if err := dirlock.LockFile(f); err != nil {
			t.Fatal(err)
		}
		before := read(t, f.Name())
		cfg.Count = 260
		if _, err := Run(t.Context(), cfg); !errors.Is(err, dirlock.ErrFileHeld) {
			t.Errorf("%v: found error %v, expected %v", format, err, dirlock.ErrFileHeld)
		}
		if !bytes.Equal(read(t, f.Name()), before) {
			t.Errorf("%v: the file has changed", format)
		}
	}
}

// TestFindSeed: the seed is found after damage too, in the magic of the file as well.
func TestFindSeed(t *testing.T) {
	cfg := config(t, dataset.Chain)
	cfg.Count = 50
	block, _ := mustRun(t, cfg)
	for _, at := range []int{0, 5, len(block) / 2} {
		file := bytes.Repeat(block, 2)
		file[at] ^= 1
		if err := os.WriteFile(cfg.Output, file, 0o666); err != nil {
			t.Fatal(err)
		}
		if seed, found, err := FindSeed(cfg.Output, dataset.Chain); seed != cfg.Seed || !found || err != nil {
			t.Errorf("damage at %d: seed %d, %t, %v", at, seed, found, err)
		}
	}
}

func TestOneProcessAtATime(t *testing.T) {
	cfg := config(t, dataset.Chain)
	o, err := openOutput(&cfg, "run", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer o.close()
	if _, err := Run(t.Context(), cfg); err == nil {
		t.Error("two runs write one file")
	}
}

// A flipped bit of the state is an error that names the file, or makes no difference.
func TestFlippedBits(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.bin")
	s := state{Run: "r", Seed: 7, Next: 12, Positions: 300, FilePositions: 100, Bytes: 7200}
	if err := s.write(path); err != nil {
		t.Fatal(err)
	}
	if told := golden.Flip(t, stateName(path), func() (any, error) { return readState(path) }); told == 0 {
		t.Error("no flipped bit made a difference")
	}
}
