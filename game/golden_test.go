package game

import (
	"bytes"
	"encoding/binary"
	"fmt"
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
// beside it that says what is in it; the records of the present version must
// also encode to the same bytes.
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
		if again := mustEncode(t, g); filepath.Base(filepath.Dir(path)) == fmt.Sprintf("v%d", version) && !bytes.Equal(again, b) {
			t.Errorf("%s: encodes to\n%x\nexpected\n%x", path, again, b)
		}
	}
}

func writeGolden(t *testing.T) {
	rng := newRand(10)
	for name, g := range map[string]*Game{
		"crazyhouse":    engineGames(t)[0],
		"chess":         randomGame(chess.Chess.Start(), newRand(11), 300),
		"crazyhouse960": randomGame(mustFEN(t, chess.Crazyhouse, start960[1]), rng, 60),
	} {
		base := filepath.Join("testdata", fmt.Sprintf("v%d", version), name)
		if err := os.WriteFile(base+".game", mustEncode(t, g), 0o644); err != nil {
			t.Fatal(err)
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

func BenchmarkDecode(b *testing.B) {
	var records [][]byte
	for _, g := range engineGames(b) {
		records = append(records, mustEncode(b, g))
	}
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
