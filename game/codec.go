package game

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// ErrIllegal says that a move of a game is not legal, or that the game went on
// after its end.
var ErrIllegal = errors.New("game: illegal ply")

// maxOrder is the highest order of the score code; 4 bits hold it.
const maxOrder = 15

// Encode appends the record of g to dst. The layout stands in the package
// comment. A game with an illegal move (ErrIllegal), one whose outcome is not
// true to its moves (ErrOutcome), or one beyond a size bound (ErrTooLarge) has
// no record; dst is then returned as it was.
func Encode(dst []byte, g *Game) ([]byte, error) {
	if g.Variant == nil || g.Start.Variant() != g.Variant {
		return dst, fmt.Errorf("%w: game of %v with a start position of %v", ErrVariant, g.Variant, g.Start.Variant())
	}
	h, err := g.header()
	if err != nil {
		return dst, err
	}
	record, err := appendHeader(nil, &h)
	if err != nil {
		return dst, err
	}
	if record, err = appendPlies(record, g); err != nil {
		return dst, err
	}
	if err := seal(record); err != nil {
		return dst, err
	}
	return append(dst, record...), nil
}

// appendPlies replays g and appends the bits of its plies.
func appendPlies(dst []byte, g *Game) ([]byte, error) {
	order, err := scoreOrder(g.Plies)
	if err != nil {
		return nil, err
	}
	w := bitWriter{b: dst}
	w.write(uint32(order), 4)
	replay := newReplayer(g.Start)
	flags, last := plyFlags(true, true), search.Score(0)
	for i, ply := range g.Plies {
		legal, err := replay.next(i)
		if err != nil {
			return nil, err
		}
		index, ok := rankOf(legal, ply.Move)
		if !ok {
			pos := replay.line.Pos()
			return nil, fmt.Errorf("%w: ply %d: move %04x is none of the %d legal in %s", ErrIllegal, i, uint16(ply.Move), len(legal), pos.FEN())
		}
		if f := plyFlags(ply.HasScore, ply.Train); f == flags {
			w.write(0, 1)
		} else {
			w.write(1<<2|f, 3)
			flags = f
		}
		w.write(uint32(index), indexBits(len(legal)))
		if ply.HasScore {
			w.golomb(zigzag(int32(ply.Score+last)), order)
			last = ply.Score
		}
		replay.line.Push(ply.Move)
	}
	return w.b, g.checkOutcome(replay.line)
}

// plyFlags packs the two flags as the record does, has-score above train.
func plyFlags(hasScore, train bool) uint32 {
	var f uint32
	if hasScore {
		f |= 2
	}
	if train {
		f |= 1
	}
	return f
}

// scoreOrder returns the order of the Exp-Golomb code that is shortest for the
// scores of a game, the lowest of equals.
func scoreOrder(plies []Ply) (uint, error) {
	var total [maxOrder + 1]int
	last := search.Score(0)
	for i, p := range plies {
		if !p.HasScore {
			continue
		}
		if p.Score > search.MateScore || p.Score < -search.MateScore {
			return 0, fmt.Errorf("%w: ply %d: score %d, expected within ±%d", ErrMalformed, i, int(p.Score), int(search.MateScore))
		}
		u := zigzag(int32(p.Score + last))
		for k := range total {
			total[k] += golombLen(u, uint(k))
		}
		last = p.Score
	}
	return uint(slices.Index(total[:], slices.Min(total[:]))), nil
}

// Decode reads a record, replaying the game legally. It accepts only what
// Encode can write, so that encoding the game again gives b. Its errors wrap one of the sentinels of this package.
func Decode(b []byte) (*Game, error) {
	h, next, err := readHeader(b)
	if err != nil {
		return nil, err
	}
	start, err := h.start()
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
	r := bitReader{b: b[next:]}
	if err := readPlies(&r, g); err != nil {
		return nil, fmt.Errorf("%w (byte %d)", err, next+int(r.pos/8))
	}
	return g, nil
}

// start returns the start position, whose FEN must be as Position.FEN writes it.
func (h *Header) start() (chess.Position, error) {
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

// readPlies reads and replays the plies of g, whose number is set already.
func readPlies(r *bitReader, g *Game) error {
	order, err := r.read(4)
	if err != nil {
		return fmt.Errorf("%w: score order: %w", ErrMalformed, err)
	}
	replay := newReplayer(g.Start)
	flags, last := plyFlags(true, true), search.Score(0)
	for i := range g.Plies {
		legal, err := replay.next(i)
		if err != nil {
			return err
		}
		ply := &g.Plies[i]
		if flags, err = readFlags(r, flags); err != nil {
			return fmt.Errorf("%w: ply %d: flags: %w", ErrMalformed, i, err)
		}
		ply.HasScore, ply.Train = flags&2 != 0, flags&1 != 0
		index, err := r.read(indexBits(len(legal)))
		if err != nil {
			return fmt.Errorf("%w: ply %d: move: %w", ErrMalformed, i, err)
		}
		if int(index) >= len(legal) {
			return fmt.Errorf("%w: ply %d: move number %d of %d legal ones", ErrIllegal, i, index, len(legal))
		}
		ply.Move = nthMove(legal, int(index))
		if ply.HasScore {
			u, err := r.golomb(uint(order))
			if err != nil {
				return fmt.Errorf("%w: ply %d: score: %w", ErrMalformed, i, err)
			}
			ply.Score = search.Score(unzigzag(u)) - last
			if ply.Score > search.MateScore || ply.Score < -search.MateScore {
				return fmt.Errorf("%w: ply %d: score %d, expected within ±%d", ErrMalformed, i, int(ply.Score), int(search.MateScore))
			}
			last = ply.Score
		}
		replay.line.Push(ply.Move)
	}
	if !r.padded() {
		return fmt.Errorf("%w: %d bits after %d plies, expected less than 8, all zero", ErrMalformed, uint(len(r.b))*8-r.pos, len(g.Plies))
	}
	if best, err := scoreOrder(g.Plies); err != nil || best != uint(order) {
		return fmt.Errorf("%w: score order %d, expected %d", ErrMalformed, order, best)
	}
	return g.checkOutcome(replay.line)
}

func readFlags(r *bitReader, before uint32) (uint32, error) {
	changed, err := r.read(1)
	if err != nil || changed == 0 {
		return before, err
	}
	flags, err := r.read(2)
	if err == nil && flags == before {
		err = errBits
	}
	return flags, err
}

// replayer walks a game ply by ply.
type replayer struct {
	line  *chess.Line
	moves chess.MoveList
}

func newReplayer(start chess.Position) *replayer {
	return &replayer{line: chess.NewLine(start)}
}

// next returns the legal moves at the present end of the line, where ply i is
// about to be made. There is an error if the game is over there.
func (r *replayer) next(i int) ([]chess.Move, error) {
	if outcome, reason := r.line.Outcome(); outcome != chess.Ongoing {
		return nil, fmt.Errorf("%w: ply %d: the game has ended by %s", ErrIllegal, i, ReasonText(reason))
	}
	r.moves.N = 0
	r.line.Pos().Legal(&r.moves)
	return r.moves.Slice(), nil
}

// indexBits returns the width of an index into n ≥ 1 moves.
func indexBits(n int) uint { return uint(bits.Len(uint(n - 1))) }

// rankOf returns the index m would have if moves were sorted by code, and
// whether it is among them.
func rankOf(moves []chess.Move, m chess.Move) (rank int, ok bool) {
	for _, other := range moves {
		if other < m {
			rank++
		}
		ok = ok || other == m
	}
	return rank, ok
}

// nthMove returns the move that would have index n if moves were sorted by
// code. Sorting them all would take longer than generating them, so only the
// moves that share the six high bits of the one sought are sorted. It may
// reorder moves.
func nthMove(moves []chess.Move, n int) chess.Move {
	var count [64]int
	for _, m := range moves {
		count[m>>10]++
	}
	high := 0
	for n >= count[high] {
		n -= count[high]
		high++
	}
	same := moves[:0]
	for _, m := range moves {
		if int(m>>10) == high {
			same = append(same, m)
		}
	}
	slices.Sort(same)
	return same[n]
}
