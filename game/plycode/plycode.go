package plycode

import (
	"errors"
	"fmt"
	"math"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// Errors of this package, wrapped with what was found and what was expected.
var (
	ErrIllegal   = errors.New("illegal ply")
	ErrMalformed = errors.New("malformed plies")
)

// Scores lie within sixteen bits.
const (
	minScore search.Score = math.MinInt16
	maxScore search.Score = math.MaxInt16
)

// MaxOrder is the highest order of the score code; 4 bits hold it.
const MaxOrder = 15

// Ply is a half-move and what is known about the position before it.
type Ply struct {
	// Move is the move on record. It is legal, or else it is the last of its
	// series, or Other is there.
	Move chess.Move
	// Other is the move that was made if Move was not; else NoMove.
	Other chess.Move
	Score search.Score // 0 without HasScore
	// HasScore says that Score is known.
	HasScore bool
	// Train says that the position may be trained on.
	Train bool
	// Partial says that the kind of piece that Move drops or promotes to is
	// not known.
	Partial bool
	// Policy is what a tree search made of the moves; nil if there was none.
	Policy *search.Policy
}

// made returns the move that leads to the next ply.
func (p *Ply) made() chess.Move {
	if p.Other != chess.NoMove {
		return p.Other
	}
	return p.Move
}

// Flags of a ply in the code.
const (
	flagScore = 1 << iota
	flagTrain
	flagOther
	flagRaw
	flagPolicy // only where plies may have policies

	stickyFlags = flagScore | flagTrain | flagPolicy
)

// flagBits is the width of the flags.
func flagBits(policies bool) uint {
	if policies {
		return 5
	}
	return 4
}

// firstFlags are those that count as being there before the first ply.
func firstFlags(policies bool) uint32 {
	return flagScore | flagTrain | bit(policies)*flagPolicy
}

// Scores finds the order of the score code that is shortest for a series.
type Scores struct {
	last search.Score
	bits orders
}

// Add takes in the score of the next ply that has one.
func (s *Scores) Add(score search.Score) {
	s.bits.add(zigzag(int32(score + s.last)))
	s.last = score
}

// Order returns the order that takes fewest bits, the lowest of equals.
func (s *Scores) Order() uint {
	order, _ := s.bits.best()
	return order
}

// Encoder appends the code of a series of plies to a byte slice.
type Encoder struct {
	w     bitWriter
	pos   chess.Position
	order uint
	flags uint32
	last  search.Score
	plies int
	ended bool // the last ply leads nowhere

	policies bool // plies may have them
	limit    int  // bytes of a policy
	scratch  bitWriter
}

// Reset begins a series that starts from start, to be appended to dst, with the
// given order of the score code, at most MaxOrder. Its plies have no policies.
func (e *Encoder) Reset(dst []byte, start *chess.Position, order uint) {
	*e = Encoder{w: bitWriter{b: dst}, pos: *start, order: order, flags: firstFlags(false), scratch: e.scratch}
	e.w.write(uint32(order), 4)
}

// ResetPolicies is Reset for a series whose plies may have policies, which are
// cut to the given number of bytes each, at most MaxPolicyBytes: the moves of
// least weight are left out.
func (e *Encoder) ResetPolicies(dst []byte, start *chess.Position, order uint, limit int) {
	e.Reset(dst, start, order)
	e.policies, e.limit, e.flags = true, min(limit, MaxPolicyBytes), firstFlags(true)
}

// Add appends a ply. After an error the series is spoilt.
func (e *Encoder) Add(p *Ply) error {
	if p.Score < minScore || p.Score > maxScore || !p.HasScore && p.Score != 0 {
		return fmt.Errorf("%w: ply %d: score %d (known: %v), expected %d to %d, 0 if not known",
			ErrMalformed, e.plies, int(p.Score), p.HasScore, int(minScore), int(maxScore))
	}
	if p.Policy != nil && !e.policies {
		return e.malformed("a policy where plies have none")
	}
	if e.ended {
		return fmt.Errorf("%w: ply %d: the ply before leads to no position", ErrIllegal, e.plies)
	}
	raw := p.Partial || !e.pos.IsLegal(p.Move)
	if p.Other != chess.NoMove && (p.Other == p.Move && !raw || !e.pos.IsLegal(p.Other)) {
		return e.illegal(p.Other)
	}
	e.writeFlags(p, raw)
	if raw {
		e.w.write(uint32(p.Move)<<1|bit(p.Partial), 17)
	} else {
		writeMove(&e.w, &e.pos, p.Move)
	}
	if p.Other != chess.NoMove {
		writeMove(&e.w, &e.pos, p.Other)
	}
	if p.HasScore {
		e.w.golomb(zigzag(int32(p.Score+e.last)), e.order)
		e.last = p.Score
	}
	if p.Policy != nil {
		if err := e.writePolicy(p.Policy, e.limit); err != nil {
			return err
		}
	}
	e.plies++
	if e.ended = raw && p.Other == chess.NoMove; !e.ended {
		e.pos.Make(p.made())
	}
	return nil
}

func (e *Encoder) writeFlags(p *Ply, raw bool) {
	f := bit(p.HasScore)*flagScore | bit(p.Train)*flagTrain | bit(p.Other != chess.NoMove)*flagOther | bit(raw)*flagRaw |
		bit(p.Policy != nil)*flagPolicy
	if f == e.flags {
		e.w.write(0, 1)
		return
	}
	n := flagBits(e.policies)
	e.w.write(1<<n|f, n+1)
	e.flags = f & stickyFlags
}

func (e *Encoder) illegal(m chess.Move) error {
	return fmt.Errorf("%w: ply %d: move %s (%04x) is not legal in %s", ErrIllegal, e.plies, e.pos.UCI(m), uint16(m), e.pos.FEN())
}

func (e *Encoder) malformed(format string, args ...any) error {
	return fmt.Errorf("%w: ply %d: %s", ErrMalformed, e.plies, fmt.Sprintf(format, args...))
}

// Pos returns the position after the plies added; of a last ply that leads
// nowhere, the one before it. It must not be changed.
func (e *Encoder) Pos() *chess.Position { return &e.pos }

// Ended reports whether the ply added last leads nowhere, so that none can follow.
func (e *Encoder) Ended() bool { return e.ended }

// Bytes returns the slice given to Reset with the series appended.
func (e *Encoder) Bytes() []byte { return e.w.b }

func bit(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// Decoder reads series of plies, checking that every move made is legal.
type Decoder struct {
	r     bitReader
	pos   chess.Position
	order uint
	flags uint32
	last  search.Score
	plies int
	ended bool

	policies bool // plies may have them
}

// Reset begins a series: the bytes b, from the position start.
func (d *Decoder) Reset(b []byte, start *chess.Position) {
	*d = Decoder{r: bitReader{b: b}, pos: *start, flags: firstFlags(false)}
	d.order = uint(d.r.read(4))
}

// ResetPolicies is Reset for a series whose plies may have policies.
func (d *Decoder) ResetPolicies(b []byte, start *chess.Position) {
	d.Reset(b, start)
	d.policies, d.flags = true, firstFlags(true)
}

// Pos returns the position before the next ply. It must not be changed.
func (d *Decoder) Pos() *chess.Position { return &d.pos }

// Ended reports whether the ply read last leads nowhere, so that none can follow.
func (d *Decoder) Ended() bool { return d.ended }

// Order returns the order of the score code.
func (d *Decoder) Order() uint { return d.order }

// Offset returns the byte of the code in which the next ply begins.
func (d *Decoder) Offset() int { return int(d.r.pos / 8) }

// Next reads a ply. It fails if it is none that an Encoder writes.
func (d *Decoder) Next(p *Ply) error {
	f := d.flags
	if d.r.read(1) != 0 {
		if f = d.r.read(flagBits(d.policies)); f == d.flags {
			return d.malformed("flags %0*b once more", flagBits(d.policies), f)
		}
		d.flags = f & stickyFlags
	}
	*p = Ply{HasScore: f&flagScore != 0, Train: f&flagTrain != 0}
	if d.ended {
		return fmt.Errorf("%w: ply %d: the ply before leads to no position", ErrIllegal, d.plies)
	}
	if err := d.moves(p, f); err != nil {
		return err
	}
	return d.finish(p)
}

// finish reads the score and the policy and makes the move.
func (d *Decoder) finish(p *Ply) error {
	if p.HasScore {
		u, ok := d.r.golomb(d.order)
		p.Score = search.Score(unzigzag(u)) - d.last
		if !ok || p.Score < minScore || p.Score > maxScore {
			return d.malformed("score %d, expected %d to %d", int(p.Score), int(minScore), int(maxScore))
		}
		d.last = p.Score
	}
	if d.flags&flagPolicy != 0 {
		var err error
		if p.Policy, err = d.policy(); err != nil {
			return err
		}
	}
	if d.r.over() {
		return d.malformed("cut short")
	}
	d.plies++
	if !d.ended {
		d.pos.Make(p.made())
	}
	return nil
}

// moves reads Move and Other.
func (d *Decoder) moves(p *Ply, f uint32) (err error) {
	if f&flagRaw != 0 {
		v := d.r.read(17)
		p.Move, p.Partial = chess.Move(v>>1), v&1 != 0
		if d.ended = f&flagOther == 0; !p.Partial && d.pos.IsLegal(p.Move) {
			return d.malformed("move %s in full", d.pos.UCI(p.Move))
		}
	} else if p.Move, err = d.move(); err != nil {
		return err
	}
	if f&flagOther != 0 {
		if p.Other, err = d.move(); err != nil {
			return err
		}
		if p.Other == p.Move && f&flagRaw == 0 {
			return d.malformed("move %s twice", d.pos.UCI(p.Move))
		}
	}
	return nil
}

// move reads a legal move.
func (d *Decoder) move() (chess.Move, error) {
	m, ok := readMove(&d.r, &d.pos)
	if !ok {
		return m, fmt.Errorf("%w: ply %d: a piece without moves in %s", ErrIllegal, d.plies, d.pos.FEN())
	}
	if !d.pos.IsLegal(m) {
		return m, fmt.Errorf("%w: ply %d: move %s is not legal in %s", ErrIllegal, d.plies, d.pos.UCI(m), d.pos.FEN())
	}
	return m, nil
}

func (d *Decoder) malformed(format string, args ...any) error {
	return fmt.Errorf("%w: ply %d: %s", ErrMalformed, d.plies, fmt.Sprintf(format, args...))
}

// End checks that nothing but zeros up to the end of a byte follows the plies
// read.
func (d *Decoder) End() error {
	if d.r.over() || !d.r.padded() {
		return fmt.Errorf("%w: %d bits after %d plies, expected less than 8, all zero",
			ErrMalformed, len(d.r.b)*8-int(d.r.pos), d.plies)
	}
	return nil
}
