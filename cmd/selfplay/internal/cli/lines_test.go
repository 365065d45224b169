package cli

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
)

// A line that is too long is named.
func TestEachLineTooLong(t *testing.T) {
	in := strings.NewReader("short\n" + strings.Repeat("x", 1<<17))
	err := EachLine(t.Context(), "-", in, func(Line) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "line 2: found more than 65536 bytes") {
		t.Errorf("error %v", err)
	}
}

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
