package cli

import (
	"context"
	"errors"
	"io"
	"testing"
)

func TestEachLineEndsWithContext(t *testing.T) {
	// A reader that never ends, as a terminal nobody types at.
	in, typed := io.Pipe()
	defer typed.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { _, _ = io.WriteString(typed, "one\n") }()
	err := EachLine(ctx, "-", in, func(l Line) error {
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("lines: error %v", err)
	}
}
