package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
)

// stream gives consume all that produce emits, in order. It returns the error
// of ctx at once when that ends, even while produce waits or computes: produce
// may then go on until its next emit, so it must change nothing. Emit returns
// false when no more is wanted.
func stream[T any](ctx context.Context, produce func(emit func(T) bool) error, consume func(T) error) error {
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

// line is one of a text file, without its end.
type line struct {
	number int // from 1
	text   string
}

// eachLine calls do with every line of the file called name, or of stdin if it
// is called "-". Empty lines and those that begin with # are left out.
func eachLine(ctx context.Context, name string, stdin io.Reader, do func(line) error) error {
	in := stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	}
	return stream(ctx, func(emit func(line) bool) error {
		scanner := bufio.NewScanner(in)
		for number := 1; scanner.Scan(); number++ {
			text := strings.TrimRight(scanner.Text(), "\r")
			if text == "" || strings.HasPrefix(text, "#") {
				continue
			}
			if !emit(line{number, text}) {
				return nil
			}
		}
		if err := scanner.Err(); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	}, do)
}

// output remembers the first error of writing, for commands that print many
// lines and ask for it once, at the end.
type output struct {
	w   io.Writer
	err error
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	if o.err == nil {
		o.err = err
	}
	return n, err
}
