package chain

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/sample/sampletest"
)

func resealHeader(b []byte) {
	binary.LittleEndian.PutUint32(b[offHeaderCRC:], crc32.Checksum(b[:offHeaderCRC], castagnoli))
}

// FuzzReader gives the Reader any bytes, as they are and as the payload of a
// block whose header fits. The samples it accepts the Writer writes and reads
// again.
func FuzzReader(f *testing.F) {
	for _, g := range games(f, newRand(9), 4) {
		g.Plies = g.Plies[:min(len(g.Plies), 8)]
		if g.Outcome, g.Reason = g.Line().Outcome(); g.Outcome == chess.Ongoing {
			g.Outcome, g.Reason = chess.Draw, game.PlyLimit
		}
		f.Add(writeGames(f, []*game.Game{g}))
	}
	for _, g := range treeGames(f, newRand(10), 2) {
		f.Add(writeGames(f, []*game.Game{g}))
	}
	f.Add(write(f, chess.Crazyhouse, readFixture(f, fixtures[1].path, chess.Crazyhouse)[:4]))
	f.Add(write(f, chess.Crazyhouse, readFixture(f, fixtures[2].path, chess.Crazyhouse)[500:504]))
	f.Fuzz(func(t *testing.T, b []byte) {
		checkAny(t, b)
		if len(b) <= headerSize || len(b) > headerSize+MaxPayload {
			return
		}
		b = bytes.Clone(b)
		h := header{
			variant: variants[1+b[offVariant]%2], unit: sample.CentipawnUnit, version: versionPlain + b[offVersion]%2,
			items: binary.LittleEndian.Uint32(b[offItems:]), plies: binary.LittleEndian.Uint32(b[offPlies:]),
		}
		h.put(b)
		checkAny(t, b)
	})
}

func checkAny(t *testing.T, b []byte) {
	r := NewReader(bytes.NewReader(b))
	var samples []sample.Sample
	for {
		var s sample.Sample
		err := r.Read(&s)
		if err == nil {
			samples = append(samples, s)
		} else if !errors.Is(err, sample.ErrRecord) {
			break
		}
	}
	checkRecords(t, b)
	if len(samples) == 0 {
		return
	}
	var out bytes.Buffer
	w, err := NewWriter(&out, r.Variant(), r.Unit())
	if err != nil {
		t.Fatal(err)
	}
	kept := samples[:0]
	for i := range samples {
		if err := w.Write(&samples[i]); err == nil {
			kept = append(kept, samples[i])
			last := &kept[len(kept)-1]
			last.Policy, last.Repetitions, last.PliesLeft = nil, 0, 0 // come with games only
		} else if !errors.Is(err, sample.ErrRecord) {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	again := sampletest.ReadAll(t, NewReader(&out))
	for i := range kept {
		if i >= len(again) || again[i] != kept[i] {
			t.Fatalf("%d samples for %d, or sample %d differs", len(again), len(kept), i)
		}
	}
}

// checkRecords reads games whole where it can.
func checkRecords(t *testing.T, b []byte) {
	r := NewReader(bytes.NewReader(b))
	for {
		record, err := r.Record(nil)
		if err == nil && len(record) > 0 {
			if _, err := game.DecodeHeader(record); err != nil {
				t.Fatal(err)
			}
			_, _ = game.Decode(record)
			continue
		}
		if err == nil {
			err = r.Read(&sample.Sample{})
		}
		if err == io.EOF || err != nil && !errors.Is(err, sample.ErrRecord) {
			return
		}
	}
}
