package dash

import (
	"net/http"
	"slices"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/nnue/features"
	"github.com/crazyhouse-rl/selfplay/planes"
	"github.com/crazyhouse-rl/selfplay/search"
)

// Inputs are what nets see of a position.
type Inputs struct {
	Net      string  `json:"net"`
	Features string  `json:"features"` // the net's feature set; empty: it has planes
	Blocks   []Block `json:"blocks"`   // its summands
	Planes   []Plane `json:"planes"`   // all, in their order
}

// Block is a summand of a feature set.
type Block struct {
	Name  string  `json:"name"`
	Means string  `json:"means"`
	Size  int     `json:"size"`
	Sides [2]Seen `json:"sides"` // seen by White and by Black
}

// Seen are the features of a block that are active from one perspective.
type Seen struct {
	Active []int32 `json:"active"` // by number in the block, rising
	// Squares says for every square, a1 first, how many of them need the piece there: so
	// many are not active without it. 0 where no piece stands; nil where the position
	// without it cannot be, as without a king.
	Squares [64]*int `json:"squares"`
	// Hands says the same of one piece of a kind in a hand, by its letter as in FEN.
	Hands map[string]int `json:"hands"`
}

// Plane is an input of nets on planes.
type Plane struct {
	Name     string `json:"name"`
	Constant bool   `json:"constant"` // the same number everywhere
	// Values are by row and column, row 0 being the back rank of the side to move; of a
	// constant plane the first alone.
	Values []float32 `json:"values"`
}

func (s *Server) inputs(w http.ResponseWriter, r *http.Request) {
	q, err := readQuestion[Question](w, r)
	var line *chess.Line
	var o opponent
	if err == nil {
		line, o, _, err = s.gameOf(&q)
	}
	out := &Inputs{Net: o.name, Blocks: []Block{}}
	if err == nil {
		err = s.addBlocks(out, o, line.Pos())
	}
	if err != nil {
		refuseAsked(w, err)
		return
	}
	out.addPlanes(line)
	answer(w, encode(out))
}

// addPlanes adds the planes of the last position of a line.
func (in *Inputs) addPlanes(line *chess.Line) {
	var all [planes.Size]float32
	at := search.Current(line)
	planes.Encode(all[:], &at, line.Repetitions())
	for i := range planes.Channels {
		p := Plane{Name: planes.Name(i), Constant: planes.Constant(i), Values: all[64*i:][:64]}
		if p.Constant {
			p.Values = p.Values[:1]
		}
		in.Planes = append(in.Planes, p)
	}
}

// addBlocks adds the features of a position, if the net has any.
func (s *Server) addBlocks(in *Inputs, o opponent, p *chess.Position) error {
	n, err := s.searches.read(o, p.Variant())
	if err != nil || n.NNUE == nil {
		return err
	}
	set := n.NNUE.Features()
	in.Features = set.String()
	for _, part := range features.Parts(set) {
		b := Block{Name: part.Set.String(), Means: part.Set.Describe(), Size: part.Set.Size()}
		for side := range b.Sides {
			b.Sides[side] = seen(part.Set, p, chess.Color(side))
		}
		in.Blocks = append(in.Blocks, b)
	}
	return nil
}

// seen finds which pieces the active features need by taking each away, which holds for
// every set, whatever its numbers mean.
func seen(set features.Set, p *chess.Position, perspective chess.Color) Seen {
	out := Seen{Active: set.Active(p, perspective, []int32{}), Hands: map[string]int{}}
	slices.Sort(out.Active)
	needs := func(without chess.Setup) *int {
		q, ok := position(without, p.Variant())
		if !ok {
			return nil
		}
		lost, _ := set.Difference(&q, p, perspective, nil, nil)
		n := len(lost)
		return &n
	}
	whole := setup(p)
	for square := range whole.Board {
		zero := 0
		out.Squares[square] = &zero
		if whole.Board[square] != chess.NoPiece {
			less := whole
			less.Board[square] = chess.NoPiece
			less.Promoted &^= chess.Square(square).Bitboard()
			out.Squares[square] = needs(less)
		}
	}
	for side := range whole.Hands {
		for kind := chess.Pawn; kind < chess.King; kind++ {
			if less := whole; less.Hands[side].Has(kind) {
				less.Hands[side] = less.Hands[side].Remove(kind)
				if n := needs(less); n != nil {
					out.Hands[chess.MakePiece(chess.Color(side), kind).String()] = *n
				}
			}
		}
	}
	return out
}

// setup takes a position apart.
func setup(p *chess.Position) chess.Setup {
	s := chess.Setup{
		Promoted: p.Promoted(), Hands: [2]chess.Hand{p.Hand(chess.White), p.Hand(chess.Black)}, SideToMove: p.SideToMove(),
		CastlingRooks: p.CastlingRooks(), EnPassant: p.EnPassant(), FullmoveNumber: 1,
	}
	for square := range s.Board {
		s.Board[square] = p.PieceAt(chess.Square(square))
	}
	return s
}

// position puts a position together, with the other side to move if it must be: sets of
// features do not ask whose turn it is.
func position(s chess.Setup, v *chess.Variant) (chess.Position, bool) {
	p, err := s.Position(v)
	if err != nil {
		s.SideToMove, s.EnPassant = s.SideToMove.Other(), chess.NoSquare
		p, err = s.Position(v)
	}
	return p, err == nil
}
