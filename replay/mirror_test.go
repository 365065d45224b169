package replay

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/crazyhouse-rl/selfplay/sample"
)

// mirrorOptions make a window of about a third of 600 test games, and several
// segments outside it.
func mirrorOptions() Options {
	o := testOptions()
	o.Run = "run"
	o.MaxBytes, o.Window.Min = 6*o.SegmentBytes, 300
	return o
}

// mirrored is a source and a mirror of it that speak by encoded chunks.
type mirrored struct {
	t      *testing.T
	from   *Buffer
	to     *Mirror
	dir    string
	opt    Options // of the mirror
	asked  int     // chunks
	begun  int     // of them, those that began anew
	failed error
}

func newMirrored(t *testing.T, from *Buffer) *mirrored {
	m := &mirrored{t: t, from: from, dir: t.TempDir(), opt: mirrorOptions()}
	m.opt.SegmentBytes, m.opt.Run, m.opt.Window = 6<<10, "", from.opt.Window // its segments need not be the source's
	m.open()
	return m
}

func (m *mirrored) open() {
	m.t.Helper()
	to, err := NewMirror(openBuffer(m.t, m.dir, m.opt), m.ask)
	if err != nil {
		m.t.Fatal(err)
	}
	m.to = to
}

func (m *mirrored) ask(_ context.Context, after Cursor) (Chunk, error) {
	if m.failed != nil {
		return Chunk{}, m.failed
	}
	sent, err := m.from.ReadFrom(after, MinChunk)
	if err != nil {
		return Chunk{}, err
	}
	data := sent.Append(nil)
	if len(data) > MinChunk {
		m.t.Errorf("chunk of %d bytes, expected at most %d", len(data), MinChunk)
	}
	m.asked++
	if sent.Begin {
		m.begun++
	}
	got, err := DecodeChunk(data)
	if err == nil && !reflect.DeepEqual(got, sent) {
		m.t.Errorf("sent %+v, got %+v", sent, got)
	}
	return got, err
}

// catchUp lets the mirror catch up.
func (m *mirrored) catchUp() {
	m.t.Helper()
	for caughtUp := false; !caughtUp; {
		var err error
		if caughtUp, err = m.to.Step(m.t.Context()); err != nil {
			m.t.Fatal(err)
		}
		if m.asked > 10_000 {
			m.t.Fatal("the mirror does not catch up")
		}
	}
}

// same lets the mirror catch up and checks that it is like its source.
func (m *mirrored) same() {
	m.t.Helper()
	m.catchUp()
	from, to := m.from.Stats(), m.to.Stats()
	if from.Plies != to.Plies || from.Games != to.Games || from.HeldOutGames != to.HeldOutGames ||
		from.WindowGames != to.WindowGames || from.WindowPlies != to.WindowPlies || from.WindowTarget != to.WindowTarget {
		m.t.Fatalf("mirror %+v of %+v", to, from)
	}
	if m.to.Less() != (Counts{}) {
		m.t.Errorf("the mirror lacks %+v", m.to.Less())
	}
	for _, perGame := range []int{1, 5} {
		a, b := make([]sample.Sample, 300), make([]sample.Sample, 300)
		errA, errB := m.from.Draw(newRand(7), Drawing{PerGame: perGame}, a), m.to.Draw(newRand(7), Drawing{PerGame: perGame}, b)
		if !errors.Is(errB, errA) || !reflect.DeepEqual(a, b) {
			m.t.Fatalf("other samples are drawn from the mirror (errors %v, %v)", errA, errB)
		}
	}
	a, b := make([]sample.Sample, 50), make([]sample.Sample, 50)
	if !reflect.DeepEqual(m.from.HeldOut(sample.Filter{}, a), m.to.HeldOut(sample.Filter{}, b)) {
		m.t.Fatal("the mirror holds out other samples")
	}
}

// A mirror has its source's window whenever it has caught up: from the beginning,
// begun late, over restarts of both, and after its place was deleted.
func TestMirrorIsLikeItsSource(t *testing.T) {
	dir := t.TempDir()
	from := openBuffer(t, dir, mirrorOptions())
	early := newMirrored(t, from)
	early.same() // nothing to nothing
	games := testGames(t, 0, 900)
	for at := 0; at < 300; at += 23 {
		appendGames(t, from, games[at:min(at+23, 300)])
		early.same()
	}
	if early.begun != 2 { // with nothing, and with the first games
		t.Errorf("began %d times", early.begun)
	}
	late := newMirrored(t, from)
	late.same()
	if from.Stats().StoredNow == 300 {
		t.Errorf("nothing retired: %+v, %+v", from.Stats(), late.to.Stats())
	}

	crash(t, early.to.Buffer)
	early.open()
	early.same()
	crash(t, from)
	from = openBuffer(t, dir, mirrorOptions())
	early.from, late.from = from, from
	appendGames(t, from, games[300:320])
	early.same()
	late.same()
	if late.begun != 1 {
		t.Errorf("began %d times", late.begun)
	}

	for at := 320; at < 900; at += 20 { // more than the source keeps
		appendGames(t, from, games[at:at+20])
		early.same()
	}
	if first := from.segments[0].number; late.to.at.Next.Segment >= first {
		t.Fatalf("segment %d is still there, the first is %d", late.to.at.Next.Segment, first)
	}
	late.same()
	if late.begun != 3 || early.begun != 2 { // the first answer tells that it has to
		t.Errorf("began %d and %d times", early.begun, late.begun)
	}
	r := audit(t, late.dir)
	if r.Wrong() || r.Games+r.Retired != 900 {
		t.Errorf("audit: %+v", r)
	}
}

// A mirror that is killed between any two of its steps is like its source soon after.
func TestMirrorIsKilled(t *testing.T) {
	from := openBuffer(t, t.TempDir(), mirrorOptions())
	m := newMirrored(t, from)
	games := testGames(t, 0, 300)
	for at := 0; at < 300; at += 50 {
		appendGames(t, from, games[at:at+50])
		state := readFileOr(m.dir, mirrorFile)
		m.same()
		// Appended, but the cursor is the one before.
		crash(t, m.to.Buffer)
		if state != nil {
			writeFile(t, filepath.Join(m.dir, mirrorFile), state)
		}
		m.open()
		m.same()
	}
	// Begun anew, but no game appended.
	if err := m.to.forget(); err != nil {
		t.Fatal(err)
	}
	if err := m.to.restart(Counts{Games: 3, Rows: 50}); err != nil {
		t.Fatal(err)
	}
	crash(t, m.to.Buffer)
	m.open()
	m.same()
	if err := os.Remove(filepath.Join(m.dir, mirrorFile)); err != nil {
		t.Fatal(err)
	}
	crash(t, m.to.Buffer)
	m.open()
	m.same()
}

// A mirror has all that a larger window needs, whichever of the two gets its rule first. It
// has little room, so that it deletes what its own rule does not need. A held-out game among
// the oldest would have it sent all games.
func TestMirrorOfALargerWindow(t *testing.T) {
	defer func(was int) { askOlder = was }(askOlder)
	askOlder = 1
	var games [][]byte
	for i := 0; len(games) < 300; i++ {
		if !sample.HeldOut(gameID(i)) {
			games = append(games, testGames(t, i, 1)...)
		}
	}
	wide := mirrorOptions()
	wide.Window.Min = 900
	for _, first := range []string{"source", "mirror", "both"} {
		dir := t.TempDir()
		from := openBuffer(t, dir, mirrorOptions())
		appendGames(t, from, games)
		m := newMirrored(t, from)
		crash(t, m.to.Buffer)
		m.opt.MaxBytes = 2 * m.opt.SegmentBytes
		m.open()
		m.same()
		had := m.to.Stats().StoredNow
		widen := func(which string) {
			if which != "mirror" {
				crash(t, m.from)
				m.from = openBuffer(t, dir, wide)
			}
			if which != "source" {
				crash(t, m.to.Buffer)
				m.opt.Window = wide.Window
				m.open()
			}
		}
		widen(first)
		m.catchUp()
		switch first {
		case "source":
			widen("mirror")
		case "mirror":
			widen("source")
		}
		m.same()
		if now := m.to.Stats().StoredNow; now <= had {
			t.Errorf("%s first: %d games, before %d: the test is vacuous", first, now, had)
		}
	}
}

func readFileOr(dir, name string) []byte {
	data, _ := os.ReadFile(filepath.Join(dir, name))
	return data
}

// A mirror follows its source through exclusions, damage and another buffer.
func TestMirrorBeginsAnew(t *testing.T) {
	dir := t.TempDir()
	from := openBuffer(t, dir, mirrorOptions())
	m := newMirrored(t, from)
	appendGames(t, from, actorGames(t, 0, 200, "a", "b", "c"))
	m.same()
	if err := from.Exclude("b", "forged"); err != nil {
		t.Fatal(err)
	}
	m.same()
	appendGames(t, from, actorGames(t, 200, 50, "a", "b"))
	m.same()
	if err := from.Include("b"); err != nil {
		t.Fatal(err)
	}
	m.same()

	// The source loses a segment of its window.
	needed := from.index.oldestSegment()
	crash(t, from)
	if err := os.Remove(filepath.Join(dir, segmentName(needed+1))); err != nil {
		t.Fatal(err)
	}
	from = openBuffer(t, dir, mirrorOptions())
	m.from = from
	m.same()

	other := openBuffer(t, t.TempDir(), mirrorOptions())
	appendGames(t, other, testGames(t, 0, 250))
	m.from = other
	m.same()

	m.failed = errors.New("no connection")
	if _, err := m.to.Step(t.Context()); !errors.Is(err, m.failed) {
		t.Errorf("got %v, want %v", err, m.failed)
	}
}

// A mirror that cannot write its manifest says so.
func TestMirrorCannotBegin(t *testing.T) {
	from := openBuffer(t, t.TempDir(), mirrorOptions())
	m := newMirrored(t, from)
	appendGames(t, from, actorGames(t, 0, 20, "a"))
	manifest := filepath.Join(m.to.dir, manifestFile)
	if err := errors.Join(os.RemoveAll(manifest), os.MkdirAll(filepath.Join(manifest, "full"), 0o755)); err != nil {
		t.Fatal(err)
	}
	if _, err := m.to.Step(t.Context()); !errors.Is(err, ErrBroken) {
		t.Errorf("found error %v, expected %v", err, ErrBroken)
	}
	if err := os.RemoveAll(manifest); err != nil {
		t.Fatal(err)
	}
}

// A game that only its source can count is told, and does not end the mirror.
func TestMirrorTellsWhatItLacks(t *testing.T) {
	dir := t.TempDir()
	good := testGames(t, 0, 3)
	bad := append([]byte(nil), good[1]...)
	bad[len(bad)-1] ^= 1 // fails game.Decode, but not the record's checksum
	data := appendSegmentHeader(nil, testOptions().Variant)
	for _, g := range [][]byte{good[0], bad, good[2]} {
		data = appendFrame(data, g, 6)
	}
	writeFile(t, filepath.Join(dir, segmentName(1)), data)
	from := openBuffer(t, dir, mirrorOptions())
	m := newMirrored(t, from)
	for range 5 {
		if _, err := m.to.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if less := m.to.Less(); less.Games != from.Stats().Games-m.to.Stats().Games {
		t.Errorf("%+v, mirror %+v of %+v", less, m.to.Stats(), from.Stats())
	}
	appendGames(t, from, testGames(t, 10, 5))
	if caughtUp, err := m.to.Step(t.Context()); !caughtUp || err != nil || m.begun > 1 {
		t.Errorf("caught up %t, %v, began %d times", caughtUp, err, m.begun)
	}
}

func TestReadFromOddCursors(t *testing.T) {
	b := openBuffer(t, t.TempDir(), mirrorOptions())
	appendGames(t, b, testGames(t, 0, 40))
	for _, c := range []Cursor{{}, {1, 0}, {1, -5}, {1, 1 << 40}, {99, headerBytes}, {0, headerBytes}} {
		if got, err := b.ReadFrom(c, MinChunk); err != nil || !got.Begin || len(got.Games) != 40 || !got.End {
			t.Errorf("%+v: %d games, begin %t, %v", c, len(got.Games), got.Begin, err)
		}
	}
	whole, err := b.ReadFrom(Cursor{1, headerBytes + 1}, MinChunk) // within the first record
	if err != nil || whole.Begin || len(whole.Games) != 39 {
		t.Errorf("%d games, %v", len(whole.Games), err)
	}
	if _, err := b.ReadFrom(Cursor{}, MinChunk-1); !errors.Is(err, ErrConfig) {
		t.Errorf("small chunk: %v", err)
	}
}

// A stretch without records that is longer than a chunk ends no reader.
func TestReadFromPastDamage(t *testing.T) {
	dir := t.TempDir()
	games := testGames(t, 0, 2)
	data := appendFrame(appendSegmentHeader(nil, testOptions().Variant), games[0], 6)
	data = append(data, make([]byte, 3*MinChunk)...)
	data = appendFrame(data, games[1], 6)
	writeFile(t, filepath.Join(dir, segmentName(1)), data)
	b := openBuffer(t, dir, mirrorOptions())
	got, err := b.ReadFrom(Cursor{}, MinChunk)
	if err != nil || len(got.Games) != 2 || !got.End {
		t.Errorf("%d games, end %t, %v", len(got.Games), got.End, err)
	}
}

// One chunk does not wait until all games of an excluded actor are passed; the next ones go
// on from there.
func TestReadFromPastExcludedGames(t *testing.T) {
	was := maxRead
	maxRead = 10 << 10
	defer func() { maxRead = was }()
	o := testOptions()
	o.Run = "run"
	b := openBuffer(t, t.TempDir(), o)
	for i, actor := range []string{"a", "b", "a"} {
		appendGames(t, b, actorGames(t, 200*i, []int{5, 200, 5}[i], actor))
	}
	if err := b.Exclude("b", "forged"); err != nil {
		t.Fatal(err)
	}
	games, empty := 0, 0
	for at, end := (Cursor{}), false; !end; {
		c, err := b.ReadFrom(at, MinChunk)
		if err != nil || !c.End && c.Next == at {
			t.Fatalf("at %+v: error %v, next %+v", at, err, c.Next)
		}
		games += len(c.Games)
		if len(c.Games) == 0 && !c.End {
			empty++
		}
		at, end = c.Next, c.End
	}
	if games != 10 || empty == 0 {
		t.Errorf("%d games and %d chunks without any, expected 10 and some", games, empty)
	}
	newMirrored(t, b).same()
}

func TestMirrorGolden(t *testing.T) {
	golden := filepath.Join("testdata", "mirror", fmt.Sprintf("v%d", mirrorSchema))
	want := mirrorState{
		Schema: mirrorSchema, Source: "ab2cd3ef4g", Changes: 2, Next: Cursor{Segment: 7, Offset: 4000}, Less: Counts{Games: 1, Rows: 30}, Fresh: true,
	}
	if *update {
		if err := want.write(golden); err != nil {
			t.Fatal(err)
		}
	}
	var got mirrorState
	for v := range mirrorSchema {
		dir := filepath.Join("testdata", "mirror", fmt.Sprintf("v%d", v+1))
		if err := got.read(dir); err != nil || got != want {
			t.Errorf("%s: found %+v, error %v, expected %+v", dir, got, err, want)
		}
	}
	dir := t.TempDir()
	if err := got.write(dir); err != nil || string(readFileOr(dir, mirrorFile)) != string(readFileOr(golden, mirrorFile)) {
		t.Errorf("%s is written differently, error %v", mirrorFile, err)
	}
	for text, want := range map[string]error{`{"schema":3}`: ErrVersion, `{"schema":1,"unknown":1}`: ErrManifest, "{": ErrManifest} {
		writeFile(t, filepath.Join(dir, mirrorFile), []byte(text))
		b := openBuffer(t, dir, testOptions())
		if _, err := NewMirror(b, nil); !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", text, err, want)
		}
		crash(t, b)
	}
}
