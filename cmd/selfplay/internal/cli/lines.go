package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Stream gives consume all that produce emits, in order. It returns the error
// of ctx at once when that ends, even while produce waits or computes: produce
// may then go on until its next emit, so it must change nothing. Emit returns
// false when no more is wanted.
func Stream[T any](ctx context.Context, produce func(emit func(T) bool) error, consume func(T) error) error {
	inner, stop := context.WithCancel(ctx)
	defer stop()
	values, done := make(chan T), make(chan error, 1)
	go func() {
		done <- produce(func(v T) bool {
			select {
			case values <- v:
				return true
			case <-inner.Done():
				return false
			}
		})
	}()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case v := <-values:
			if err := consume(v); err != nil {
				return err
			}
		case err := <-done:
			return err
		}
	}
}

// Line is one of a text file, without its end.
type Line struct {
	Number int // from 1
	Text   string
}

// EachLine calls do with every line of the file called name, or of stdin if it
// is called "-". Empty lines and those that begin with # are left out.
func EachLine(ctx context.Context, name string, stdin io.Reader, do func(Line) error) error {
	in := stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	}
	return Stream(ctx, func(emit func(Line) bool) error {
		scanner := bufio.NewScanner(in)
		number := 1
		for ; scanner.Scan(); number++ {
			text := strings.TrimRight(scanner.Text(), "\r")
			if text == "" || strings.HasPrefix(text, "#") {
				continue
			}
			if !emit(Line{number, text}) {
				return nil
			}
		}
		if err := scanner.Err(); errors.Is(err, bufio.ErrTooLong) {
			return fmt.Errorf("%s: line %d: found more than %d bytes, expected a shorter line", name, number, bufio.MaxScanTokenSize)
		} else if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	}, do)
}
