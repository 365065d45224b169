package selfplay

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/match/book"
	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/replay"
)

// otherBook is a book that the program does not have.
const otherBook = `# two lines of play and a position
rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR[] w KQkq - 0 2
rnbqkb1r/pppppppp/5n2/8/3P4/8/PPP1PPPP/RNBQKBNR[] w KQkq - 1 2
r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R[] w KQkq - 2 3
`

// openBookRun opens a run with another book than the program's, which other machines
// can join.
func openBookRun(t *testing.T) *Run {
	t.Helper()
	cfg := smallConfig(t)
	cfg.Bus.Listen, cfg.Actor.BookShare, cfg.Verify.Share = "127.0.0.1:0", 1, 1
	cfg.Actor.Book = filepath.Join(t.TempDir(), "other.epd")
	if err := os.WriteFile(cfg.Actor.Book, []byte(otherBook), 0o644); err != nil {
		t.Fatal(err)
	}
	r := openRun(t, filepath.Join(t.TempDir(), "run"), cfg)
	t.Cleanup(func() { r.Close() })
	return r
}

// joinDir joins a run for a role with a directory of its own.
func joinDir(t *testing.T, r *Run, role, dir string) *Run {
	t.Helper()
	own := preset(t, "laptop")
	own.Bus.URL = "nats://" + r.conn.Addr()
	own.Actor.Workers = 1
	o := testOptions()
	o.Role = role
	joined, err := Join(t.Context(), dir, r.identity.Name, own, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { joined.Close() })
	return joined
}

// All roles of a run play from its book, whatever book their program has, and a
// verifier elsewhere finds their games the same; with the program's own book it does
// not.
func TestRolesPlayFromTheBookOfTheRun(t *testing.T) {
	r := openBookRun(t)
	if err := os.Remove(r.cfg.Actor.Book); err != nil { // on the trainer's machine only
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	looped := make(chan error, 1)
	go func() { looped <- r.Loop(ctx, Limits{}) }()
	const games = 12
	actor := joinDir(t, r, "actor", t.TempDir())
	if err := actor.Actor(ctx, Limits{Games: games}); err != nil {
		t.Fatal(err)
	}

	verify := func(choose func(*verifier)) VerifyStats {
		joined := joinDir(t, r, "verify", t.TempDir())
		v := newVerifier(joined, joined.actorHistory)
		choose(v)
		var source verifySource
		left := 2 * games // some of the loop's own too
		err := v.run(ctx, func(ctx context.Context) ([]byte, error) {
			if left--; left < 0 {
				return nil, io.EOF
			}
			return source.next(ctx, joined)
		}, func(Verdict) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		return v.stats
	}
	if got := verify(func(*verifier) {}); got.Same != 2*games {
		t.Errorf("with the run's book: %v %v, want %d the same", got, got.Skipped, 2*games)
	}
	own := func(v *verifier) {
		v.book = func(context.Context, string) (*book.Book, error) {
			b, _, err := book.Default(chess.Crazyhouse)
			return b, err
		}
	}
	if got := verify(own); got.Same != 0 {
		t.Errorf("with the program's book: %v, want none the same", got)
	}
	stop()
	if err := <-looped; err != nil {
		t.Fatal(err)
	}
	b, err := book.Read(strings.NewReader(otherBook), chess.Crazyhouse, book.Options{})
	if err != nil {
		t.Fatal(err)
	}
	starts, actors := map[string]bool{}, map[string]int{}
	for _, e := range b.Entries {
		starts[e.Start.FEN()] = true
	}
	_, err = replay.VisitGames(r.path(replayDir), func(g *game.Game) bool {
		actors[replay.ActorOf(g.ID, r.id())]++
		if !starts[g.Start.FEN()] {
			t.Errorf("game %s begins at %s, expected a position of the book", g.ID, g.Start.FEN())
		}
		return true
	}, nil)
	if err != nil || len(actors) != 2 {
		t.Errorf("games by actor: %v, error %v; want those of two", actors, err)
	}
}

// A role keeps the book, refuses a damaged one and says when there is none; the trainer
// puts it onto a server that has lost it.
func TestBookIsFetched(t *testing.T) {
	r := openBookRun(t)
	id := strings.TrimPrefix(joinDir(t, r, "gate", t.TempDir()).cfg.Actor.Book, bookPrefix)
	open := func(dir string) (*Run, error) {
		joined := joinDir(t, r, "gate", dir)
		b, err := joined.openingBook(t.Context(), joined.cfg.Actor.Book)
		if err == nil && (b.SHA256 != id || len(b.Entries) != 3) {
			t.Errorf("found book %s of %d openings, expected %s of 3", b.SHA256, len(b.Entries), id)
		}
		return joined, err
	}
	dir := t.TempDir()
	if _, err := open(dir); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, booksDir, id)
	if err := os.WriteFile(file, []byte(strings.ToLower(otherBook)), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := open(dir); err != nil { // fetched again
		t.Fatal(err)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != otherBook {
		t.Errorf("on disk %q, error %v", text, err)
	}

	// On the bus all that is no net can be deleted under its name.
	if err := r.bus.DeleteNet(t.Context(), "file-"+id); err != nil {
		t.Fatal(err)
	}
	if _, err := open(dir); err != nil {
		t.Errorf("a restart needs the server's copy: %v", err)
	}
	if _, err := open(t.TempDir()); !errors.Is(err, bus.ErrNoFile) || !strings.Contains(err.Error(), "the server does not have the run's book") {
		t.Errorf("without the server's copy: %v", err)
	}
	if err := r.restore(t.Context(), &pointers{}, r.bus.SetPointer); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t.TempDir()); err != nil {
		t.Errorf("after the trainer has given it back: %v", err)
	}
}

// The settings of a run name no file that a role would open, and only a book of the
// run's variant is taken.
func TestBooksAreRefused(t *testing.T) {
	r := openBookRun(t)
	joined := joinDir(t, r, "actor", t.TempDir())
	chessOnly := []byte("8/8/8/8/8/8/8/8 w - - 0 1\n")
	id := "5fdc0f4b1cb2a2f2bf3b0be6f8ee3de2ac2ddcc63f0ae9bc9d8cb2c4d1dbcd6e"
	for setting, want := range map[string]string{
		r.cfg.Actor.Book:                  "in the settings of the run, expected default",
		bookPrefix + "../../etc/passwd":   "in the settings of the run, expected default",
		bookPrefix + id:                   "the server does not have the run's book",
		bookPrefix + put(t, r, chessOnly): "bad opening book",
	} {
		b, err := joined.openingBook(t.Context(), setting)
		if b != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: book %v, error %v, expected one with %q", setting, b, err, want)
		}
	}
	for _, setting := range []string{configs.NoBook, configs.DefaultBook} {
		b, err := joined.openingBook(t.Context(), setting)
		if err != nil || (b == nil) != (setting == configs.NoBook) {
			t.Errorf("%s: book %v, error %v", setting, b, err)
		}
	}
	cfg := smallConfig(t)
	cfg.Actor.Book = filepath.Join(t.TempDir(), "missing.epd")
	if _, err := Open(t.Context(), filepath.Join(t.TempDir(), "run"), cfg, Options{}); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "actor.book") {
		t.Errorf("a file that is not there: %v", err)
	}
}

// put stores a file on the bus and returns its id.
func put(t *testing.T, r *Run, data []byte) string {
	t.Helper()
	id := nets.Hash(data)
	if err := r.bus.PutFile(t.Context(), id, int64(len(data)), bytes.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	return id
}
