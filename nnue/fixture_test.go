package nnue_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/nnue/nnuetest"
)

// fixture is a fixture's file and the network read from it.
type fixture struct {
	data []byte
	net  *nnue.Network
	err  error
}

func load(f nnuetest.Fixture, v *chess.Variant) fixture {
	data := f.Bytes()
	net, err := nnue.ReadVariant(bytes.NewReader(data), v)
	return fixture{data: data, net: net, err: err}
}

var (
	fixtureA = sync.OnceValue(func() fixture { return load(nnuetest.A, chess.Crazyhouse) })
	fixtureS = sync.OnceValue(func() fixture { return load(nnuetest.S, chess.Crazyhouse) })
	fixtureK = sync.OnceValue(func() fixture { return load(nnuetest.K, chess.Chess) })
)

func (f fixture) network(t testing.TB) *nnue.Network {
	t.Helper()
	if f.err != nil {
		t.Fatal(f.err)
	}
	return f.net
}

func position(t testing.TB, v *chess.Variant, fen string) chess.Position {
	t.Helper()
	p, err := chess.ParseFEN(v, fen)
	if err != nil {
		t.Fatalf("%s: %v", fen, err)
	}
	return p
}

func random(t testing.TB, a nnue.Architecture, seed uint64) *nnue.Network {
	t.Helper()
	n, err := nnuetest.Random(a, seed)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestFixtureFiles(t *testing.T) {
	for _, c := range []struct {
		name string
		f    nnuetest.Fixture
		arch nnue.Architecture
		got  fixture
	}{
		{"A", nnuetest.A, nnue.Fairy(), fixtureA()},
		{"S", nnuetest.S, nnue.Fairy(), fixtureS()},
		{"K", nnuetest.K, nnue.HalfKP(), fixtureK()},
	} {
		if sum := sha256.Sum256(c.got.data); hex.EncodeToString(sum[:]) != c.f.SHA256 {
			t.Errorf("fixture %s has SHA-256 %x, want %s", c.name, sum, c.f.SHA256)
		}
		n := c.got.network(t)
		if n.Architecture() != c.arch || n.Description != c.f.Description {
			t.Errorf("fixture %s: read %v, %q", c.name, n.Architecture(), n.Description)
		}
		var out bytes.Buffer
		out.Grow(len(c.got.data))
		if err := n.Write(&out); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(out.Bytes(), c.got.data) {
			t.Errorf("fixture %s changes when read and written", c.name)
		}
		if err := n.Check(); err != nil {
			t.Errorf("fixture %s: %v", c.name, err)
		}
	}
}

// TestFixtureValues compares single parameters of fixture A with figures on
// record, so that a mistake in the order of arrays shows by name.
func TestFixtureValues(t *testing.T) {
	n := fixtureA().network(t)
	check := func(name string, got, want any) {
		t.Helper()
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	check("bias", n.FTBias[:8], []int{-14, -72, -2, 63, 24, -24, -2, -7})
	check("weights 0", n.FTRow(0)[:8], []int{9, 6, -10, -4, -17, 5, -14, 29})
	check("weights 12345", n.FTRow(12345)[100:104], []int{39, -11, 10, -9})
	check("weights 55295", n.FTRow(55295)[508:], []int{-19, 8, 32, -11})
	check("psqt 0", n.PSQTRow(0), []int{3096, 2888, 1620, 2276, 1680, 1656, 1732, 1928})
	check("psqt 640", n.PSQTRow(640), []int{-936, 276, -160, 968, 148, 428, 1080, -240})
	check("psqt 55295", n.PSQTRow(55295), []int{-41560, -40368, -41272, -40728, -39352, -39660, -41284, -39760})
	s := n.Stacks[0]
	check("layer 1 bias", s.L1Bias[:3], []int{1784, -32, -200})
	check("layer 1 weights", s.L1Weights[:6], []int{37, -2, -4, 0, 0, 9})
	check("layer 2 bias", s.L2Bias[:3], []int{-3488, -3392, 576})
	check("layer 2 weights", s.L2Weights[14:20], []int{-10, -2, 0, 0, 0, 0})
	check("output bias", s.OutBias, -3376)
	check("output weights", s.OutWeights[:6], []int{-24, -13, 27, 37, 49, 38})
	check("stack 7", append(n.Stacks[7].L1Bias[:3:3], n.Stacks[7].OutBias), []int{896, 1608, -280, 4064})
}

// rows reads a tab-separated file without its comments.
func rows(t *testing.T, name string) [][]string {
	t.Helper()
	f, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out [][]string
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if line := lines.Text(); line != "" && line[0] != '#' {
			out = append(out, strings.Split(line, "\t"))
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

func commas(values []int) string {
	var s []string
	for _, v := range values {
		s = append(s, strconv.Itoa(v))
	}
	return strings.Join(s, ",")
}

// TestEvalFixtures compares every column with what Fairy-Stockfish computed,
// and the accumulator with it too.
func TestEvalFixtures(t *testing.T) {
	n := fixtureA().network(t)
	acc := nnue.NewAccumulator(n)
	for name, count := range map[string]int{"nnue-eval.tsv": 510, "nnue-eval-irregular.tsv": 6} {
		table := rows(t, name)
		if len(table) != count {
			t.Fatalf("%s has %d rows, want %d", name, len(table), count)
		}
		for _, row := range table {
			p := position(t, chess.Crazyhouse, row[0])
			e := n.Evaluate(&p)
			got := []string{
				row[0], strconv.Itoa(e.Bucket), strconv.Itoa(e.Raw), strconv.Itoa(e.Adjusted), strconv.Itoa(e.Final),
				commas(e.PSQT), commas(e.Positional), fmt.Sprintf("%016x", e.Checksum),
			}
			if !slices.Equal(got, row) {
				t.Errorf("%s:\ngot  %v\nwant %v", name, got, row)
			}
			acc.Reset(&p)
			if raw := acc.Raw(&p); raw != e.Raw {
				t.Errorf("%s: accumulator says %d, want %d", row[0], raw, e.Raw)
			}
		}
	}
}

// TestSaturatingFixture: sums are exact where some builds of Fairy-Stockfish
// saturate.
func TestSaturatingFixture(t *testing.T) {
	n := fixtureS().network(t)
	acc := nnue.NewAccumulator(n)
	differ := 0
	for _, row := range rows(t, "nnue-eval-saturating.tsv") {
		p := position(t, chess.Crazyhouse, row[0])
		e := n.Evaluate(&p)
		got := []string{row[0], strconv.Itoa(e.Bucket), strconv.Itoa(e.Raw), row[3], commas(e.PSQT), commas(e.Positional), row[6]}
		if !slices.Equal(got, row) {
			t.Errorf("got  %v\nwant %v", got, row)
		}
		acc.Reset(&p)
		if raw := acc.Raw(&p); raw != e.Raw {
			t.Errorf("%s: accumulator says %d, want %d", row[0], raw, e.Raw)
		}
		if row[5] != row[6] {
			differ++
		}
	}
	if differ != 72 {
		t.Errorf("%d rows saturate elsewhere, want 72", differ)
	}
}

// TestHalfKPFixture compares the output of a network of the older format with
// Stockfish's, before division and raw.
func TestHalfKPFixture(t *testing.T) {
	n := fixtureK().network(t)
	acc := nnue.NewAccumulator(n)
	table := rows(t, "nnue-halfkp-eval.tsv")
	if len(table) != 200 {
		t.Fatalf("found %d rows, want 200", len(table))
	}
	for _, row := range table {
		p := position(t, chess.Chess, row[0])
		e := n.Evaluate(&p)
		got := []string{row[0], commas(e.Positional), strconv.Itoa(e.Raw)}
		if !slices.Equal(got, row) {
			t.Errorf("got  %v\nwant %v", got, row)
		}
		if len(e.PSQT) != 0 {
			t.Errorf("%s: found piece-square values %v, want none", row[0], e.PSQT)
		}
		acc.Reset(&p)
		if raw := acc.Raw(&p); raw != e.Raw {
			t.Errorf("%s: accumulator says %d, want %d", row[0], raw, e.Raw)
		}
	}
}

// TestTraceFixture compares the values on the way, position by position.
func TestTraceFixture(t *testing.T) {
	data, err := os.ReadFile("testdata/nnue-trace.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Positions []map[string]any }
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Positions) != 5 {
		t.Fatalf("found %d positions, want 5", len(file.Positions))
	}
	n := fixtureA().network(t)
	for _, want := range file.Positions {
		fen := want["fen"].(string)
		p := position(t, chess.Crazyhouse, fen)
		e := n.Trace(&p)
		for c := range e.Features {
			slices.Sort(e.Features[c])
		}
		sum := 0
		for _, v := range e.Transformed {
			sum += int(v)
		}
		s := e.Stacks[e.Bucket]
		got := map[string]any{
			"fen":                         fen,
			"features_white":              e.Features[0],
			"features_black":              e.Features[1],
			"accumulator_white_first16":   e.Accumulators[0][:16],
			"accumulator_black_first16":   e.Accumulators[1][:16],
			"accumulator_hash":            fmt.Sprintf("%016x", e.Checksum),
			"psqt_accumulator_white":      e.PSQTSums[0],
			"psqt_accumulator_black":      e.PSQTSums[1],
			"transformed_first16":         e.Transformed[:16],
			"transformed_from512_first16": e.Transformed[512:528],
			"transformed_sum":             sum,
			"bucket":                      e.Bucket,
			"layer1_sum":                  s.Sum1,
			"layer1_out":                  s.Out1,
			"layer2_sum":                  s.Sum2,
			"layer2_out":                  s.Out2,
			"positional":                  e.Positional[e.Bucket],
			"psqt":                        e.PSQT[e.Bucket],
			"raw":                         e.Raw,
			"adjusted":                    e.Adjusted,
			"final":                       e.Final,
		}
		if len(got) != len(want) {
			t.Errorf("%s: %d values, want %d", fen, len(got), len(want))
		}
		for key := range want {
			if fmt.Sprint(got[key]) != fmt.Sprint(want[key]) {
				t.Errorf("%s: %s is %v, want %v", fen, key, got[key], want[key])
			}
		}
	}
}
