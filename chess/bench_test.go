package chess

import "testing"

// middlegameFEN has every kind of move, and pieces in both hands.
const middlegameFEN = "r2q1rk1/ppp2pp1/1bnpbn1p/4p3/2B1P3/2NP1N1P/PPP2PP1/R1BQ1RK1[QPPnbrr] w - - 0 10"

func benchPerft(b *testing.B, fen string, depth int, perft func(*Position, int) uint64) {
	p, err := ParseFEN(Crazyhouse, fen)
	if err != nil {
		b.Fatal(err)
	}
	var nodes uint64
	for b.Loop() {
		nodes += perft(&p, depth)
	}
	b.ReportMetric(float64(nodes)/b.Elapsed().Seconds()/1e6, "Mnps")
}

func BenchmarkPerftStart(b *testing.B) { benchPerft(b, Crazyhouse.StartFEN, 5, Perft) }

func BenchmarkPerftCountStart(b *testing.B) { benchPerft(b, Crazyhouse.StartFEN, 5, PerftCount) }

func BenchmarkPerftMiddlegame(b *testing.B) { benchPerft(b, middlegameFEN, 3, Perft) }

func BenchmarkPerftCountMiddlegame(b *testing.B) { benchPerft(b, middlegameFEN, 3, PerftCount) }

// BenchmarkPerftMakeEveryLeaf makes the moves of the last ply too.
func BenchmarkPerftMakeEveryLeaf(b *testing.B) {
	stack := make([]perftPly, 5)
	benchPerft(b, Crazyhouse.StartFEN, 4, func(p *Position, depth int) uint64 {
		stack[0].pos = *p
		return makeEveryLeaf(stack, depth)
	})
}

func makeEveryLeaf(stack []perftPly, depth int) uint64 {
	if depth == 0 {
		return 1
	}
	ply, next := &stack[0], &stack[1]
	ply.pos.Legal(&ply.moves)
	var n uint64
	for _, m := range ply.moves.Slice() {
		next.pos = ply.pos
		next.pos.Make(m)
		n += makeEveryLeaf(stack[1:], depth-1)
	}
	return n
}

func BenchmarkLegal(b *testing.B) {
	p, err := ParseFEN(Crazyhouse, middlegameFEN)
	if err != nil {
		b.Fatal(err)
	}
	var l MoveList
	b.ReportAllocs()
	for b.Loop() {
		p.Legal(&l)
	}
}

// BenchmarkChecks finds the moves that give check: in one, from the list of all, and move
// by move as GivesCheck tells.
func BenchmarkChecks(b *testing.B) {
	p, err := ParseFEN(Crazyhouse, middlegameFEN)
	if err != nil {
		b.Fatal(err)
	}
	var l MoveList
	b.Run("LegalChecks", func(b *testing.B) {
		for b.Loop() {
			p.LegalChecks(&l)
		}
	})
	b.Run("KeepChecks", func(b *testing.B) {
		for b.Loop() {
			p.Legal(&l)
			p.KeepChecks(&l)
		}
	})
	b.Run("GivesCheck", func(b *testing.B) {
		for b.Loop() {
			p.Legal(&l)
			n := 0
			for _, m := range l.Slice() {
				if p.GivesCheck(m) {
					l.Moves[n] = m
					n++
				}
			}
		}
	})
}

func BenchmarkParseFEN(b *testing.B) {
	fen := []byte(middlegameFEN)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseFENBytes(Crazyhouse, fen); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendFEN(b *testing.B) {
	p, err := ParseFEN(Crazyhouse, middlegameFEN)
	if err != nil {
		b.Fatal(err)
	}
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = p.AppendFEN(buf[:0])
	}
}

func BenchmarkCountLegal(b *testing.B) {
	p, err := ParseFEN(Crazyhouse, middlegameFEN)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		p.CountLegal()
	}
}

// BenchmarkMake makes every legal move of one position on a copy.
func BenchmarkMake(b *testing.B) {
	p, err := ParseFEN(Crazyhouse, middlegameFEN)
	if err != nil {
		b.Fatal(err)
	}
	var l MoveList
	p.Legal(&l)
	b.ReportAllocs()
	for b.Loop() {
		for _, m := range l.Slice() {
			child := p
			child.Make(m)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(l.N), "ns/move")
}

func BenchmarkIsLegal(b *testing.B) {
	p, err := ParseFEN(Crazyhouse, middlegameFEN)
	if err != nil {
		b.Fatal(err)
	}
	var l MoveList
	p.Legal(&l)
	for b.Loop() {
		for _, m := range l.Slice() {
			p.IsLegal(m)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(l.N), "ns/move")
}

// BenchmarkUnpack is what a sample kept packed costs when it is drawn.
func BenchmarkUnpack(b *testing.B) {
	p, err := ParseFEN(Crazyhouse, middlegameFEN)
	if err != nil {
		b.Fatal(err)
	}
	packed := p.Pack()
	for b.Loop() {
		packed.Unpack(&p)
	}
}
