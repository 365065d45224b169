package ab

import (
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

func randomEntry(rng *rand.Rand) entry {
	return entry{
		move:  chess.Move(rng.Uint32()),
		score: rng.IntN(2*mateScore+1) - mateScore,
		eval:  rng.IntN(1<<16) - 1<<15,
		depth: rng.IntN(search.MaxPly+minDepth+1) + minDepth,
		bound: search.Bound(rng.IntN(3)),
	}
}

func TestEntryRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 10000 {
		e, age := randomEntry(rng), uint8(rng.IntN(ageMask+1))
		data := e.pack(age)
		if got := unpack(data); got != e || ageOf(data) != age {
			t.Fatalf("unpack(pack(%+v, age %d)) = %+v, age %d", e, age, got, ageOf(data))
		}
	}
}

func TestTableStoresAndFinds(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	table := newTable(1)
	want := map[uint64]entry{}
	for range 1000 { // few for the size: none has to give way
		key, e := rng.Uint64(), randomEntry(rng)
		table.store(key, e)
		want[key] = e
	}
	for key, e := range want {
		if got, ok := table.probe(key); !ok || got != e {
			t.Fatalf("probe(%x) = %+v, %v, want %+v", key, got, ok, e)
		}
		// A neighbour in the same cluster with other low bits is another position.
		if _, ok := table.probe(key ^ 1); ok {
			t.Fatalf("probe(%x) found the entry of %x", key^1, key)
		}
	}
}

func TestTableReplacement(t *testing.T) {
	table := tableOf(make([]cluster, 1))
	at := func(depth int) entry { return entry{depth: depth, bound: search.Lower, move: 77} }
	for key, depth := range []int{9, 3, 7, 5} {
		table.store(uint64(key), at(depth))
	}
	table.store(10, at(4))
	if _, ok := table.probe(1); ok {
		t.Error("the shallowest entry was kept in a full cluster")
	}
	for _, key := range []uint64{0, 2, 3, 10} {
		if _, ok := table.probe(key); !ok {
			t.Errorf("entry %d is gone though a shallower one was there", key)
		}
	}
	table.store(0, entry{depth: 1, bound: search.Upper})
	if e, _ := table.probe(0); e.depth != 9 {
		t.Errorf("a far shallower bound replaced depth 9 by depth %d", e.depth)
	}
	table.store(0, entry{depth: 1, bound: search.Exact})
	if e, _ := table.probe(0); e.depth != 1 || e.move != 77 {
		t.Errorf("exact score stored as depth %d, move %d; want depth 1 and the old move 77", e.depth, e.move)
	}
	// Old searches' entries give way first, however deep.
	table.newSearch(0)
	table.newSearch(0)
	for key := uint64(20); key < 24; key++ {
		table.store(key, at(1))
	}
	for key := uint64(20); key < 24; key++ {
		if _, ok := table.probe(key); !ok {
			t.Errorf("entry %d of this search gave way to one of an older", key)
		}
	}
}

func TestTableNewGame(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	table := newTable(1)
	keys := make([]uint64, 30000)
	fill := func() {
		for i := range keys {
			keys[i] = rng.Uint64()
			table.store(keys[i], randomEntry(rng))
		}
	}
	// More games than there are generations, so that their number wraps.
	for range 3 {
		table.generation = 1<<16 - 2
		for range 4 {
			fill()
			if table.hashfull() == 0 {
				t.Fatal("hashfull is 0 after filling")
			}
			table.newGame()
			for _, key := range keys {
				if _, ok := table.probe(key); ok {
					t.Fatalf("generation %d: found an entry of the game before", table.generation)
				}
			}
			if got := table.hashfull(); got != 0 {
				t.Fatalf("hashfull after newGame is %d, want 0", got)
			}
		}
	}
}

// What one game leaves behind must not change what the next one keeps.
func TestTableGamesAreIndependent(t *testing.T) {
	used, fresh := newTable(1), newTable(1)
	rng := rand.New(rand.NewPCG(7, 8))
	for range 100000 {
		used.store(rng.Uint64(), randomEntry(rng))
	}
	used.newGame()
	keys := make([]uint64, 100000)
	for i := range keys {
		keys[i] = rng.Uint64()
		e := randomEntry(rng)
		used.store(keys[i], e)
		fresh.store(keys[i], e)
	}
	for _, key := range keys {
		a, oka := used.probe(key)
		b, okb := fresh.probe(key)
		if a != b || oka != okb {
			t.Fatalf("probe(%x): used table %+v %v, fresh table %+v %v", key, a, oka, b, okb)
		}
	}
}

// Entries written by several threads at once are either found whole or not.
func TestTableConcurrent(t *testing.T) {
	table := tableOf(make([]cluster, 2))
	entryOf := func(key uint64) entry {
		return entry{move: chess.Move(key), score: int(key % 1000), eval: int(key % 777), depth: int(key % 50), bound: search.Exact}
	}
	var wg sync.WaitGroup
	for thread := range uint64(4) {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(thread, 9))
			for range 20000 {
				key := rng.Uint64N(64) << 40
				if rng.IntN(2) == 0 {
					table.store(key, entryOf(key>>40))
				} else if e, ok := table.probe(key); ok && e != entryOf(key>>40) {
					t.Errorf("probe(%x) = %+v, want %+v", key, e, entryOf(key>>40))
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestMateScoresInTable(t *testing.T) {
	for _, tc := range []struct{ score, ply, stored int }{
		{100, 7, 100}, {-100, 7, -100},
		{mateScore - 9, 4, mateScore - 5}, // mate 5 plies below the position 4 plies down
		{9 - mateScore, 4, 5 - mateScore},
	} {
		if got := toTable(tc.score, tc.ply); got != tc.stored {
			t.Errorf("toTable(%d, %d) = %d, want %d", tc.score, tc.ply, got, tc.stored)
		}
		if got := fromTable(tc.stored, tc.ply); got != tc.score {
			t.Errorf("fromTable(%d, %d) = %d, want %d", tc.stored, tc.ply, got, tc.score)
		}
	}
}

// The part of the table that a game uses follows the node limits of its searches.
func TestTablePart(t *testing.T) {
	table := newTable(1)
	whole := len(table.all)
	search := func(nodes uint64, want int, kept bool) {
		t.Helper()
		table.store(12345, entry{depth: 3})
		table.newSearch(nodes)
		if got := len(table.clusters); got != want {
			t.Errorf("search of %d nodes: %d clusters, expected %d", nodes, got, want)
		}
		if _, ok := table.probe(12345); ok != kept {
			t.Errorf("search of %d nodes: entry of the search before found: %v, expected %v", nodes, ok, kept)
		}
	}
	table.newSearch(150)
	search(150, 150*clustersPerNode, true)
	search(100, 150*clustersPerNode, true)
	search(200, 200*clustersPerNode, false)
	search(0, whole, false)
	search(150, whole, true)
	table.newGame()
	table.newSearch(1)
	search(1, leastClusters, true)
	for _, nodes := range []uint64{uint64(whole / clustersPerNode), 1 << 32, 1<<64 - 1} {
		table.newGame()
		table.newSearch(nodes)
		search(nodes, whole, true)
	}
}

// Short searches find the same with a part of the table as with all of it. A few may differ,
// as an entry is replaced sooner in a smaller table.
func TestTablePartPlaysAlike(t *testing.T) {
	for _, nodes := range []uint64{50, 150, 400} {
		alike, moves := 0, 0
		for seed := range uint64(4) {
			rng := rand.New(rand.NewPCG(seed, nodes))
			line := chess.NewLine(chess.Crazyhouse.Start())
			for range 4 {
				var l chess.MoveList
				line.Pos().Legal(&l)
				line.Push(l.Moves[rng.IntN(l.N)])
			}
			part, whole := New(newMaterial, Options{HashMB: 4}), New(newMaterial, Options{HashMB: 4})
			whole.table.searched = true // and so goes on with all of it
			for range 60 {
				if !line.Pos().HasLegalMove() {
					break
				}
				a, b := mustSearch(t, part, line, search.Limits{Nodes: nodes}), mustSearch(t, whole, line, search.Limits{Nodes: nodes})
				if moves++; a.Move == b.Move && a.Score == b.Score {
					alike++
				}
				line.Push(b.Move)
			}
			if len(part.table.clusters) >= len(whole.table.clusters) {
				t.Fatalf("%d nodes: %d clusters of %d", nodes, len(part.table.clusters), len(whole.table.clusters))
			}
		}
		if t.Logf("%d nodes: %d of %d moves alike", nodes, alike, moves); alike*100 < moves*99 {
			t.Errorf("%d nodes: %d of %d moves with the score of the whole table, expected 99 %%", nodes, alike, moves)
		}
	}
}
