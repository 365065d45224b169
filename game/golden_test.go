package game

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
)

// TestRecordSize holds the record to its purpose on games of a real engine.
func TestRecordSize(t *testing.T) {
	var plies, header, total int
	for _, g := range engineGames(t) {
		b := mustEncode(t, g)
		_, next, err := readHeader(b)
		if err != nil {
			t.Fatal(err)
		}
		plies, header, total = plies+len(g.Plies), header+next, total+len(b)
	}
	games := len(engineGames(t))
	perPly := float64(total-header) / float64(plies)
	t.Logf("%d games of %.1f plies: %.2f bytes a ply and %.1f a game", games, float64(plies)/float64(games), perPly, float64(header)/float64(games))
	if perPly > 2.5 {
		t.Errorf("%.2f bytes a ply, expected at most 2.5", perPly)
	}
	if header > 100*games {
		t.Errorf("%d bytes of header in %d games, expected at most 100 each", header, games)
	}
}

// TestGolden decodes the records of every version ever written. Each has a PGN
// beside it that says what is in it, and one with policies a list of these; all
// but those of version 1 must also encode to the same bytes.
func TestGolden(t *testing.T) {
	if *update {
		writeGolden(t)
	}
	records, err := filepath.Glob("testdata/v*/*.game")
	if err != nil || len(records) == 0 {
		t.Fatalf("no golden records: %v", err)
	}
	for _, path := range records {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		g, err := Decode(b)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		var pgn bytes.Buffer
		if err := writePGN(&pgn, g, nil); err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(strings.TrimSuffix(path, ".game") + ".pgn")
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(pgn.Bytes(), want) {
			t.Errorf("%s: PGN is\n%s\nexpected\n%s", path, pgn.Bytes(), want)
		}
		if found, want := policiesText(g), readPolicies(t, path); found != want {
			t.Errorf("%s: policies are\n%s\nexpected\n%s", path, found, want)
		}
		if again := mustEncode(t, g); b[offVersion] != 1 && !bytes.Equal(again, b) {
			t.Errorf("%s: encodes to\n%x\nexpected\n%x", path, again, b)
		}
	}
}

// policiesText lists the policies of g, a line each: number of the ply, surprise,
// moves with weights.
func policiesText(g *Game) string {
	var text strings.Builder
	pos := g.Start
	for i, ply := range g.Plies {
		if ply.Policy != nil {
			fmt.Fprintf(&text, "%d %g", i, ply.Policy.Surprise)
			for _, m := range ply.Policy.Moves {
				fmt.Fprintf(&text, " %s=%d", pos.UCI(m.Move), m.Weight)
			}
			text.WriteByte('\n')
		}
		pos.Make(ply.Move)
	}
	return text.String()
}

// readPolicies returns the list beside a record, empty if there is none.
func readPolicies(t *testing.T, record string) string {
	t.Helper()
	text, err := os.ReadFile(strings.TrimSuffix(record, ".game") + ".policies")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return string(text)
}

func writeGolden(t *testing.T) {
	rng := newRand(10)
	for name, g := range map[string]*Game{
		"crazyhouse":    engineGames(t)[0],
		"chess":         randomGame(chess.Chess.Start(), newRand(11), 300),
		"crazyhouse960": randomGame(mustFEN(t, chess.Crazyhouse, start960[1]), rng, 60),
		"policies":      withPolicies(randomGame(chess.Crazyhouse.Start(), newRand(13), 40), newRand(14)),
	} {
		record := mustEncode(t, g)
		base := filepath.Join("testdata", fmt.Sprintf("v%d", record[offVersion]), name)
		if err := os.WriteFile(base+".game", record, 0o644); err != nil {
			t.Fatal(err)
		}
		if text := policiesText(g); text != "" {
			if err := os.WriteFile(base+".policies", []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		var pgn bytes.Buffer
		if err := writePGN(&pgn, g, nil); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(base+".pgn", pgn.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	games := engineGames(b)
	var buf []byte
	plies := 0
	for i := 0; b.Loop(); i++ {
		g := games[i%len(games)]
		var err error
		if buf, err = Encode(buf[:0], g); err != nil {
			b.Fatal(err)
		}
		plies += len(g.Plies)
	}
	b.ReportMetric(float64(plies)/b.Elapsed().Seconds(), "plies/s")
}

// engineRecords returns the records of engineGames.
func engineRecords(b *testing.B) [][]byte {
	b.Helper()
	var records [][]byte
	for _, g := range engineGames(b) {
		records = append(records, mustEncode(b, g))
	}
	return records
}

func BenchmarkDecode(b *testing.B) {
	records := engineRecords(b)
	b.ReportAllocs()
	plies := 0
	for i := 0; b.Loop(); i++ {
		r := records[i%len(records)]
		if _, err := Decode(r); err != nil {
			b.Fatal(err)
		}
		plies += int(binary.LittleEndian.Uint16(r[15:]))
	}
	b.ReportMetric(float64(plies)/b.Elapsed().Seconds(), "plies/s")
}
