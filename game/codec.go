package game

import (
	"errors"
	"fmt"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game/plycode"
	"github.com/crazyhouse-rl/selfplay/search"
)

// ErrIllegal says that a move of a game is not legal, or that the game went on
// after its end.
var ErrIllegal = plycode.ErrIllegal

// Encode appends the record of g to dst. The layout stands in the package
// comment. A game with an illegal move (ErrIllegal), one whose outcome is not
// true to its moves (ErrOutcome), or one beyond a size bound (ErrTooLarge) has
// no record; dst is then returned as it was.
//
// Policies lose the moves of least weight as far as a ply would take more than
// plycode.MaxPolicyBytes for its policy, or, in a very long game, the record more
// than MaxRecordBytes: then half as many bytes are tried, and so on, and at last
// the game without its policies.
func Encode(dst []byte, g *Game) ([]byte, error) {
	if g.Variant == nil || g.Start.Variant() != g.Variant {
		return dst, fmt.Errorf("%w: game of %v with a start position of %v", ErrVariant, g.Variant, g.Start.Variant())
	}
	h, err := g.header()
	if err != nil {
		return dst, err
	}
	for limit := plycode.MaxPolicyBytes; ; limit /= 2 {
		h.Policies = h.Policies && limit >= leastPolicyBytes
		record, err := encode(&h, g, limit)
		if h.Policies && errors.Is(err, ErrTooLarge) {
			continue
		}
		if err != nil {
			return dst, err
		}
		return append(dst, record...), nil
	}
}

// leastPolicyBytes is the smallest limit that policies are cut to.
const leastPolicyBytes = 12

// encode returns the record of g with the given header and policies of at most
// limit bytes each.
func encode(h *Header, g *Game, limit int) ([]byte, error) {
	record, err := appendHeader(nil, h)
	if err != nil {
		return nil, err
	}
	if record, err = appendPlies(record, h, g, limit); err != nil {
		return nil, err
	}
	return record, finish(record)
}

// appendPlies replays g and appends the bits of its plies.
func appendPlies(dst []byte, h *Header, g *Game, limit int) ([]byte, error) {
	order, err := scoreOrder(g.Plies)
	if err != nil {
		return nil, err
	}
	var e plycode.Encoder
	if h.Policies {
		e.ResetPolicies(dst, &g.Start, order, limit)
	} else {
		e.Reset(dst, &g.Start, order)
	}
	line := chess.NewLine(g.Start)
	line.Grow(len(g.Plies))
	for i, ply := range g.Plies {
		if err := goesOn(line); err != nil {
			return nil, err
		}
		p := plycode.Ply{Move: ply.Move, HasScore: ply.HasScore, Train: ply.Train}
		if ply.HasScore {
			p.Score = ply.Score
		}
		if h.Policies {
			p.Policy = ply.Policy
		}
		if err := e.Add(&p); err != nil {
			return nil, asMalformed(err)
		}
		if e.Ended() {
			return nil, fmt.Errorf("%w: ply %d: move %04x is not legal in %s", ErrIllegal, i, uint16(ply.Move), e.Pos().FEN())
		}
		line.Push(ply.Move)
	}
	return e.Bytes(), g.checkOutcome(line)
}

// goesOn fails if the rules draw the game at the end of line, where there is a
// legal move.
func goesOn(line *chess.Line) error {
	if r := line.DrawReason(); r != chess.NoReason {
		return fmt.Errorf("%w: ply %d: the game has ended by %s", ErrIllegal, line.Len(), ReasonText(r))
	}
	return nil
}

// scoreOrder returns the order of the score code that is shortest for a game.
func scoreOrder(plies []Ply) (uint, error) {
	var s plycode.Scores
	for i, p := range plies {
		if !p.HasScore {
			continue
		}
		if p.Score > search.MateScore || p.Score < -search.MateScore {
			return 0, fmt.Errorf("%w: ply %d: score %d, expected within ±%d", ErrMalformed, i, int(p.Score), int(search.MateScore))
		}
		s.Add(p.Score)
	}
	return s.Order(), nil
}

// Decode reads a record of any version, replaying the game legally. It accepts
// only what Encode writes, or wrote in the time of version 1: of any other record
// encoding the game again gives the same bytes. A seal around the record is
// passed over; Unseal checks it. The errors wrap one of the sentinels of this
// package.
func Decode(b []byte) (*Game, error) {
	b, err := skipSeal(b)
	if err != nil {
		return nil, err
	}
	h, next, err := readHeader(b)
	if err != nil {
		return nil, err
	}
	start, err := h.Start()
	if err != nil {
		return nil, err
	}
	// A ply takes at least a bit, so a short record cannot claim many plies.
	if have := (len(b) - next) * 8; h.Plies > have {
		return nil, fmt.Errorf("%w: %d plies in %d bits", ErrMalformed, h.Plies, have)
	}
	g := &Game{
		ID: h.ID, Variant: h.Variant, Start: start, Plies: make([]Ply, h.Plies),
		Outcome: h.Outcome, Reason: h.Reason, Adjudged: h.Adjudged,
		Seed: h.Seed, Nets: h.Nets, Limits: h.Limits, Build: h.Build,
	}
	switch b[offVersion] {
	case 1:
		var d plycode.DecoderV1
		d.Reset(b[next:], &g.Start)
		err = readPlies(&d.Decoder, d.Next, g)
	case versionPlain:
		var d plycode.Decoder
		d.Reset(b[next:], &g.Start)
		err = readPlies(&d, d.Next, g)
	default:
		var d plycode.Decoder
		d.ResetPolicies(b[next:], &g.Start)
		if err = readPlies(&d, d.Next, g); err == nil && !g.hasPolicies() {
			err = fmt.Errorf("%w: no policies, expected version %d", ErrMalformed, versionPlain)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("plies from byte %d: %w", next, err)
	}
	return g, nil
}

// Start returns the start position, whose FEN must be as Position.FEN writes it.
// The error wraps ErrMalformed.
func (h *Header) Start() (chess.Position, error) {
	fen := h.StartFEN
	if fen == "" {
		fen = h.Variant.StartFEN
	}
	p, err := chess.ParseFEN(h.Variant, fen)
	if err != nil {
		return p, fmt.Errorf("%w: start position: %w", ErrMalformed, err)
	}
	p.SetChess960(h.Chess960)
	if again := p.FEN(); again != fen || p.Chess960() != h.Chess960 {
		return p, fmt.Errorf("%w: start position %q (Chess960 %v), expected %q (%v)", ErrMalformed, fen, h.Chess960, again, p.Chess960())
	}
	return p, nil
}

// readPlies reads and replays the plies of g, whose number is set already. Next
// is the method of d, which has been reset, or of the decoder around it.
func readPlies(d *plycode.Decoder, next func(*plycode.Ply) error, g *Game) error {
	line := chess.NewLine(g.Start)
	line.Grow(len(g.Plies))
	var p plycode.Ply
	for i := range g.Plies {
		if err := goesOn(line); err != nil {
			return err
		}
		if err := next(&p); err != nil {
			return asMalformed(err)
		}
		if p.Partial || p.Other != chess.NoMove || d.Ended() {
			return fmt.Errorf("%w: ply %d: move %04x, expected a legal one, and that it was made", ErrIllegal, i, uint16(p.Move))
		}
		g.Plies[i] = Ply{Move: p.Move, Score: p.Score, HasScore: p.HasScore, Train: p.Train, Policy: p.Policy}
		line.Push(p.Move)
	}
	if err := d.End(); err != nil {
		return asMalformed(err)
	}
	best, err := scoreOrder(g.Plies)
	if err != nil {
		return err
	}
	if best != d.Order() {
		return fmt.Errorf("%w: score order %d, expected %d", ErrMalformed, d.Order(), best)
	}
	return g.checkOutcome(line)
}

// asMalformed makes an error of package plycode one of this package.
func asMalformed(err error) error {
	if errors.Is(err, plycode.ErrMalformed) {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return err
}
