package dataset

import (
	"encoding/binary"
	"io"

	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/sample"
)

// Game is what belongs together in a file: a game with all that is known about it,
// or the samples of one.
type Game struct {
	Record  []byte // nil for samples
	Samples []sample.Sample
}

// gameReader reads a source game by game. In formats that do not keep games
// they are distinguished by plies and results: a game ends before a sample whose ply is
// not above the last one's, or whose result or length of the game is another.
type gameReader struct {
	src    *Source
	whole  bool // return records where there are any
	next   sample.Sample
	begun  bool // next is the first sample of the next game
	record []byte
	err    error
}

// read reads the next game into g, whose memory it uses again.
func (r *gameReader) read(g *Game) error {
	g.Record, g.Samples = nil, g.Samples[:0]
	for {
		if r.err == nil && r.record == nil && !r.begun {
			r.fetch()
		}
		switch {
		case r.record != nil && len(g.Samples) == 0:
			g.Record, r.record = r.record, nil
			return nil
		case r.err != nil && (len(g.Samples) == 0 || r.err != io.EOF):
			return r.err
		case r.err != nil || r.record != nil || len(g.Samples) > 0 && placeOf(&g.Samples[len(g.Samples)-1]).newGame(placeOf(&r.next)):
			return nil
		}
		g.Samples = append(g.Samples, r.next)
		r.begun = false
	}
}

// fetch reads the next record or sample.
func (r *gameReader) fetch() {
	if r.whole {
		if r.record, r.err = r.src.Game(); r.err != nil || r.record != nil {
			return
		}
	}
	r.err = r.src.Read(&r.next)
	r.begun = r.err == nil
}

// place is where in its game a sample is.
type place struct {
	ply    uint16
	left   uint16 // plies from here to the end of the game, 0 if that is not known
	result int8   // from White's view
}

func placeOf(s *sample.Sample) place { return place{s.Ply, s.PliesLeft, s.ResultForWhite()} }

// newGame reports whether the sample at next begins another game than that at p
// before it belongs to.
func (p place) newGame(next place) bool {
	otherLength := p.left > 0 && next.left > 0 && int(p.ply)+int(p.left) != int(next.ply)+int(next.left)
	return next.ply <= p.ply || next.result != p.result || otherLength
}

// HeldOut reports whether g is the one game in every that is kept apart. It
// depends on the game alone: on its id, as in sample.HeldOut, or on its positions.
func (g *Game) HeldOut(every uint64) (bool, error) {
	var id []byte
	if g.Record != nil {
		h, err := game.DecodeHeader(g.Record)
		if err != nil {
			return false, err
		}
		id = []byte(h.ID)
	}
	for i := range g.Samples {
		id = binary.LittleEndian.AppendUint64(id, g.Samples[i].Pos.Key())
	}
	return sample.HeldOutOf(id, every), nil
}

// write writes g with scores in the given unit.
func (s *Sink) write(g *Game, unit sample.Unit) error {
	if g.Record != nil {
		return s.WriteGame(g.Record)
	}
	for i := range g.Samples {
		if err := s.Write(&g.Samples[i], unit); err != nil {
			return err
		}
	}
	return nil
}
