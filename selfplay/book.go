package selfplay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/internal/durable"
	"github.com/crazyhouse-rl/selfplay/match/book"
	"github.com/crazyhouse-rl/selfplay/nets"
)

const (
	booksDir     = "books"  // books that a role has fetched, by the SHA-256 of their text
	maxBookBytes = 64 << 20 // of a book's text

	// bookPrefix begins the setting actor.book where it is shared; the SHA-256 of the
	// book's text in hex follows. So a book belongs to the settings that a game was
	// played with, like all that decides the game.
	bookPrefix = "sha256:"
)

var bookID = regexp.MustCompile(`^[0-9a-f]{64}$`)

// bookCache holds the books that were opened, by the setting actor.book.
type bookCache struct {
	mu     sync.Mutex
	opened map[string]openedBook
}

// openedBook is a book with its text; without a book both are nil.
type openedBook struct {
	book *book.Book
	text []byte
}

// openingBook returns the book that the setting actor.book names, nil for none.
func (r *Run) openingBook(ctx context.Context, setting string) (*book.Book, error) {
	b, err := r.openBook(ctx, setting)
	return b.book, err
}

func (r *Run) openBook(ctx context.Context, setting string) (openedBook, error) {
	r.books.mu.Lock()
	defer r.books.mu.Unlock()
	if b, ok := r.books.opened[setting]; ok {
		return b, nil
	}
	b, err := r.readBook(ctx, setting)
	if err != nil {
		return b, fmt.Errorf("actor.book: %w", err)
	}
	if r.books.opened == nil {
		r.books.opened = map[string]openedBook{}
	}
	r.books.opened[setting] = b
	return b, nil
}

func (r *Run) readBook(ctx context.Context, setting string) (b openedBook, err error) {
	id, shared := strings.CutPrefix(setting, bookPrefix)
	switch {
	case setting == configs.NoBook, setting == configs.DefaultBook && !book.HasDefault(r.variant):
		return b, nil
	case shared && bookID.MatchString(id):
		b.text, err = r.sharedBook(ctx, id)
	case setting == configs.DefaultBook, r.owner != nil:
		return r.localBook(setting)
	default: // the run's settings name no files of this machine
		err = fmt.Errorf("found %.80q in the settings of the run, expected %s, %s or %s and 64 hexadecimal digits", setting, configs.DefaultBook, configs.NoBook, bookPrefix)
	}
	if err == nil {
		b.book, err = r.parseBook(setting, b.text)
	}
	return b, err
}

// localBook reads the program's book or a file.
func (r *Run) localBook(setting string) (b openedBook, err error) {
	if b.text, err = book.Text(setting, r.variant); err == nil {
		b.book, err = r.parseBook(setting, b.text)
	}
	return b, err
}

func (r *Run) parseBook(setting string, text []byte) (*book.Book, error) {
	if len(text) > maxBookBytes {
		return nil, tooLong(setting)
	}
	b, err := book.Read(bytes.NewReader(text), r.variant, book.Options{})
	if err != nil {
		return nil, fmt.Errorf("book %s: %w", setting, err)
	}
	return b, nil
}

// checkBookFile reads the book if it is a file of this machine.
func (r *Run) checkBookFile() error {
	setting := r.cfg.Actor.Book
	if setting == configs.NoBook || setting == configs.DefaultBook || strings.HasPrefix(setting, bookPrefix) {
		return nil
	}
	if _, err := r.localBook(setting); err != nil {
		return fmt.Errorf("actor.book: %w", err)
	}
	return nil
}

func tooLong(setting string) error {
	return fmt.Errorf("book %s: found more than %d bytes, expected at most that many", setting, maxBookBytes)
}

// publishBook gives the book to the other roles and returns the setting by which they
// find it.
func (r *Run) publishBook(ctx context.Context) (string, error) {
	b, err := r.openBook(ctx, r.cfg.Actor.Book)
	if err != nil || b.book == nil {
		return configs.NoBook, err
	}
	return bookPrefix + b.book.SHA256, r.bus.PutFile(ctx, b.book.SHA256, int64(len(b.text)), bytes.NewReader(b.text))
}

// sharedBook returns the text of a book of the run: from the directory, or fetched from
// the bus.
func (r *Run) sharedBook(ctx context.Context, id string) ([]byte, error) {
	path := filepath.Join(r.path(booksDir), id)
	text, err := os.ReadFile(path)
	switch {
	case err == nil && nets.Hash(text) == id:
		return text, nil
	case err == nil:
		r.log.Warn("a book on disk is damaged, fetching it again", "file", path)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	err = r.patiently(ctx, func(ctx context.Context) error {
		text, err = r.fetchBook(ctx, id)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(r.path(booksDir), 0o755); err != nil {
		return nil, err
	}
	return text, durable.WriteFile(path, text)
}

func (r *Run) fetchBook(ctx context.Context, id string) ([]byte, error) {
	pr, pw := io.Pipe()
	go func() { pw.CloseWithError(r.bus.GetFile(ctx, id, pw)) }()
	text, err := io.ReadAll(io.LimitReader(pr, maxBookBytes+1))
	pr.Close() // lets the writer end
	switch {
	case len(text) > maxBookBytes:
		err = tooLong(bookPrefix + id)
	case errors.Is(err, bus.ErrNoFile):
		err = fmt.Errorf("the server does not have the run's book, which its trainer puts there at every start: %w", err)
	case errors.Is(err, bus.ErrCorrupt):
		err = fmt.Errorf("the server's copy of the run's book is damaged: delete object file-%s of the store %s-nets and start the trainer again: %w", id, r.id(), err)
	}
	return text, err
}
