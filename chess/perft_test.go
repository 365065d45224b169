package chess

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"
)

// readTSV returns the rows of a file in testdata, comments left out.
func readTSV(t testing.TB, name string, columns int) [][]string {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	for line := range strings.Lines(string(data)) {
		line = strings.TrimRight(line, "\r\n")
		if line == "" || line[0] == '#' {
			continue
		}
		row := strings.Split(line, "\t")
		if len(row) != columns {
			t.Fatalf("%s: %d columns in %q, want %d", name, len(row), line, columns)
		}
		rows = append(rows, row)
	}
	return rows
}

func mustParse(t testing.TB, v *Variant, fen string) Position {
	t.Helper()
	p, err := ParseFEN(v, fen)
	if err != nil {
		t.Fatalf("ParseFEN(%q): %v", fen, err)
	}
	return p
}

// TestPerft checks the perft files: every line by counting the last ply, the
// smaller ones, the only ones with -short, by listing it too.
func TestPerft(t *testing.T) {
	const small = 500_000 // nodes
	for file, v := range map[string]*Variant{
		"crazyhouse-perft.tsv":    Crazyhouse,
		"crazyhouse960-perft.tsv": Crazyhouse,
		"chess-perft.tsv":         Chess,
	} {
		t.Run(file, func(t *testing.T) {
			for _, row := range readTSV(t, file, 3) {
				depth, _ := strconv.Atoi(row[1])
				want, _ := strconv.ParseUint(row[2], 10, 64)
				if depth == 0 || want == 0 && row[2] != "0" {
					t.Fatalf("bad line %q", row)
				}
				if want > small && testing.Short() {
					continue
				}
				p := mustParse(t, v, row[0])
				if got := PerftCount(&p, depth); got != want {
					t.Errorf("PerftCount(%q, %d) = %d, want %d", row[0], depth, got, want)
				}
				if want > small {
					continue
				}
				if got := Perft(&p, depth); got != want {
					t.Errorf("Perft(%q, %d) = %d, want %d", row[0], depth, got, want)
				}
			}
		})
	}
}

func TestPerftContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p := Crazyhouse.Start()
	calls := 0
	_, err := PerftContext(ctx, &p, 30, func(p *Position, depth int) uint64 {
		if calls++; calls == 3 {
			cancel()
		}
		return Perft(p, depth)
	})
	if !errors.Is(err, context.Canceled) || calls != 3 {
		t.Errorf("perft: error %v after %d calls", err, calls)
	}
}

func TestPerftContextIsPerft(t *testing.T) {
	p, err := ParseFEN(Crazyhouse, "4k3/8/8/8/8/8/8/4K3[Np] w - - 0 1")
	if err != nil {
		t.Fatal(err)
	}
	for depth := range 5 {
		got, err := PerftContext(t.Context(), &p, depth, PerftCount)
		if want := Perft(&p, depth); err != nil || got != want {
			t.Errorf("depth %d: %d nodes, error %v; want %d", depth, got, err, want)
		}
	}
}
