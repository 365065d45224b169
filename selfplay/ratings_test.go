package selfplay

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/internal/golden"
	"github.com/crazyhouse-rl/selfplay/nets"
)

func testRatings() Ratings {
	var r Ratings
	for g := 2; g > 0; g-- {
		r.Put(RatedNet{
			Net: strings.Repeat(fmt.Sprint(g), 64), Generation: g, Offered: time.Date(2026, 1, 2, 3, g, 0, 0, time.UTC), Stored: uint64(100 * g),
			Rated: time.Date(2026, 1, 2, 4, g, 0, 0, time.UTC), Build: "b1", Ladder: "0123456789abcdef", Limits: "nodes 400",
			Elo: float64(50 * g), Low: float64(50*g - 30), High: float64(50*g + 30), Games: 80, Scores: []Scored{{"material-400", 0, 80, 0.625}},
		})
	}
	return r
}

// The file of ratings is read as it was written by every version, and not if a bit of it
// is another one.
func TestRatingsFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if r, err := ReadRatings(dir); err != nil || len(r.Nets) != 0 {
		t.Errorf("without a file: found %+v, error %v", r, err)
	}
	path := ratingsPath(dir)
	if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	want := testRatings()
	if err := want.Write(dir); err != nil {
		t.Fatal(err)
	}
	text, present := golden.Read(t, path), golden.Present(ratingsSchema, RatingsFile)
	if *update {
		golden.Write(t, present, text)
	}
	if !bytes.Equal(golden.Read(t, present), text) {
		t.Errorf("found\n%s\nexpected that of %s", text, present)
	}
	for _, version := range golden.Versions(t, present) {
		if err := os.WriteFile(path, golden.Read(t, version), 0o600); err != nil {
			t.Fatal(err)
		}
		if r, err := ReadRatings(dir); err != nil || !reflect.DeepEqual(r, want) || r.Nets[0].Generation != 1 {
			t.Errorf("%s: found %+v, error %v", version, r, err)
		}
	}
	want.Nets = want.Nets[:1]
	if err := want.Write(dir); err != nil {
		t.Fatal(err)
	}
	if told := golden.Flip(t, path, func() (any, error) { return ReadRatings(dir) }); told == 0 {
		t.Error("no flipped bit made a difference")
	}
	for name, bad := range map[string]string{
		"a later schema":     `{"schema":2,"nets":[]}`,
		"a wrong interval":   `{"schema":1,"nets":[{"elo":5,"low":6,"high":7,"scores":[{}]}]}`,
		"an endless one":     `{"schema":1,"nets":[{"elo":0,"low":-1.7e308,"high":1.7e308,"scores":[{}]}]}`,
		"no scores":          `{"schema":1,"nets":[{"elo":5,"low":4,"high":7}]}`,
		"a file too large":   `{"schema":1,"nets":[]` + strings.Repeat(" ", maxRatingBytes) + `}`,
		"what is not a list": `{"schema":1,"nets":3}`,
	} {
		if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if r, err := ReadRatings(dir); err == nil || !strings.Contains(err.Error(), RatingsFile) {
			t.Errorf("%s: found %+v, error %v, expected one that names the file", name, r, err)
		}
	}
}

// A net has one rating by each ladder.
func TestPutRating(t *testing.T) {
	r := testRatings()
	again, other := r.Nets[0], r.Nets[0]
	again.Elo, other.Ladder = 60, "fedcba9876543210"
	r.Put(again)
	r.Put(other)
	if n, ok := r.Of(again.Net, again.Ladder); len(r.Nets) != 3 || !ok || n.Elo != 60 || n.Margin() != 30 {
		t.Errorf("found %+v", r.Nets)
	}
	if n, ok := r.Of(other.Net, "no such ladder"); ok {
		t.Errorf("found %+v by a ladder that there is not", n)
	}
}

// The history of a run are the nets that passed and are still there, or where nobody has
// judged, all that were offered.
func TestHistory(t *testing.T) {
	dir := t.TempDir()
	if _, err := History(dir, 1); !errors.Is(err, nets.ErrNotFound) {
		t.Errorf("without nets: error %v, expected ErrNotFound", err)
	}
	store, err := nets.Open(filepath.Join(dir, netsDir))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := History(dir, 1); !errors.Is(err, nets.ErrNotFound) {
		t.Errorf("of an empty store: error %v, expected ErrNotFound", err)
	}
	var events strings.Builder
	const deleted = 4
	for g := 1; g <= 7; g++ {
		file := strings.NewReader(fmt.Sprint("net ", g))
		m := nets.Manifest{Schema: nets.ManifestSchema, Size: file.Size(), Kind: nets.KindNNUE, Variant: "crazyhouse", Generation: g, Games: uint64(10 * g)}
		if m.ID, _, err = store.Put(file, nets.KindNNUE); err != nil {
			t.Fatal(err)
		}
		if err := store.PutManifest(m); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&events, `{"time":"2026-01-02T03:0%d:00Z","msg":"net offered","generation":%d,"net":%q}`+"\n", g, g, m.ID)
		fmt.Fprintf(&events, `{"time":"2026-01-02T03:0%d:30Z","msg":"gate","candidate":%d,"net":%q,"passed":%t,"elo":"1.00 +/- 1.00"}`+"\n", g, g, m.ID, g != 2)
		if g == deleted {
			if err := os.Remove(store.Path(m.ID)); err != nil {
				t.Fatal(err)
			}
		}
	}
	found := func(every int) (generations []int) {
		t.Helper()
		all, err := History(dir, every)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range all {
			if _, err := os.Stat(n.Path); err != nil || n.Games != uint64(10*n.Generation) {
				t.Errorf("generation %d: %+v, %v", n.Generation, n, err)
			}
			generations = append(generations, n.Generation)
		}
		return generations
	}
	if got := found(1); !slices.Equal(got, []int{1, 2, 3, 5, 6, 7}) {
		t.Errorf("without events: found %v", got)
	}
	if err := os.WriteFile(filepath.Join(dir, eventsFile), []byte(events.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	// Those that passed are 1, 3, 4, 5, 6 and 7; the third and the fifth go on counting
	// when the third is deleted.
	for every, want := range map[int][]int{1: {1, 3, 5, 6, 7}, 2: {1, 6, 7}, 3: {1, 5, 7}, 100: {1, 7}} {
		if got := found(every); !slices.Equal(got, want) {
			t.Errorf("every %d: found %v, expected %v", every, got, want)
		}
	}
	if all, _ := History(dir, 1); all[1].Offered.Minute() != 3 {
		t.Errorf("generation 3 was offered at %v", all[1].Offered)
	}
}
