package features

import "github.com/crazyhouse-rl/selfplay/chess"

// Example is a feature that White sees in a position.
type Example struct {
	FEN     string `json:"fen"`
	Feature int    `json:"feature"` // number in the block
	Meaning string `json:"meaning"`
}

// Listed is a block as a list shows it.
type Listed struct {
	Name      string  `json:"name"`
	Meaning   string  `json:"meaning"`
	Size      int     `json:"size"`
	MaxActive int     `json:"max_active"`
	Linear    bool    `json:"linear"` // kept up to date by what a move changes, without a look at the position
	Example   Example `json:"example"`
}

// List returns the blocks a variant has, in the order of the package comment's
// table.
func List(v *chess.Variant) []Listed {
	var list []Listed
	for _, b := range registry {
		if b.hands && !v.CapturesToHand {
			continue
		}
		set := b.set(v)
		_, linear := set.(Linear)
		list = append(list, Listed{b.name, set.Describe(), set.Size(), set.MaxActive(), linear, b.example})
	}
	return list
}

// Blocks returns the names of the blocks a variant has, in the order of List.
func Blocks(v *chess.Variant) []string {
	var names []string
	for _, b := range registry {
		if !b.hands || v.CapturesToHand {
			names = append(names, b.name)
		}
	}
	return names
}

// Positions of examples.
const (
	exampleBoard  = "4k3/8/5n2/8/3B4/8/4P3/4K3 w - - 0 1"
	exampleCorner = "4k3/8/8/8/3B4/8/8/K7 w - - 0 1"
	exampleHands  = "4k3/8/8/8/8/8/8/4K3[NNp] w - - 0 1"
)

// registry lists the blocks.
var registry = []struct {
	name    string
	hands   bool // only where captures go to hand
	set     func(v *chess.Variant) Set
	example Example
}{
	{"All", false, fixed(allPieces), Example{exampleBoard, 283, "own bishop on d4"}},
	{"P", false, fixed(withoutKings), Example{exampleBoard, 283, "own bishop on d4"}},
	{"King", false, fixed(ownKing), Example{exampleCorner, 0, "own king on a1"}},
	{"KingAll", false, fixed(kingAll), Example{exampleBoard, 3355, "own king on e1 and own bishop on d4"}},
	{"HalfKP", false, fixed(halfKP), Example{exampleBoard, 2848, "own king on e1 and own bishop on d4"}},
	{HalfKAv2Name, false, func(v *chess.Variant) Set { return NewHalfKAv2(v) },
		Example{exampleCorner, 283, "own king on a1 and own bishop on d4"}},
	{"EnemyKing", false, fixed(enemyKing), Example{exampleCorner, 60, "enemy king on e8"}},
	{"KingZone", false, fixed(kingZone), Example{exampleCorner, 0, "own king on rank 1, file a or b"}},
	{"KingHalf", false, fixed(kingHalf), Example{exampleCorner, 3, "own king on a1 or h1"}},
	{"AllHalf", false, fixed(allHalf), Example{exampleCorner, 284, "own bishop on d4, mirrored to e4, as the own king stands on a1"}},
	{"H", false, fixed(ranks), Example{exampleBoard, 35, "own bishop on rank 4"}},
	{"V", false, fixed(files), Example{exampleBoard, 35, "own bishop on file d"}},
	{"D1", false, fixed(diagonals), Example{exampleBoard, 67, "own bishop on the diagonal a1-h8"}},
	{"D2", false, fixed(falling), Example{exampleBoard, 66, "own bishop on the diagonal a7-g1"}},
	{"PH", false, fixed(rankPairs), Example{"4k3/8/8/8/1p1B4/8/8/4K3 w - - 0 1", 448, "enemy pawn on rank 4, next to its right an own bishop"}},
	{"PV", false, fixed(filePairs), Example{exampleBoard, 696, "own king on file e, next above it an own pawn"}},
	{"MB", false, fixed(mobilityBits), Example{exampleBoard, 301, "an own bishop may go to f6"}},
	{"MC", false, func(v *chess.Variant) Set {
		if v.CapturesToHand {
			return mobilityCrazyhouse
		}
		return mobilityChess
	}, Example{exampleBoard, 1, "own pawns may go to two squares"}},
	{"Threats", false, fixed(threats), Example{exampleBoard, 2797, "own bishops attack an enemy knight on f6"}},
	{"Hand", true, fixed(handSet), Example{exampleHands, 33, "at least two knights in the own hand"}},
	{"HandCapped", true, fixed(handCapped), Example{exampleHands, 33, "at least two knights in the own hand"}},
	{"HandExact", true, fixed(handExact), Example{exampleHands, 33, "exactly two knights in the own hand"}},
	{"HandHeld", true, fixed(handHeld), Example{exampleHands, 2, "some knight in the own hand"}},
	{"HandPairs", true, fixed(handPairSet), Example{exampleHands, 2, "a pawn in the enemy's hand and a knight in the own"}},
	{"HandTotal", true, fixed(handTotal), Example{exampleHands, 2, "two pieces in the own hand"}},
	{"Promoted", true, fixed(promotedPieces), Example{"4k3/8/8/3Q~4/8/8/8/4K3[] w - - 0 1", 419, "own promoted queen on d5"}},
	{"DropChecks", true, fixed(dropCheckCounts), Example{exampleHands, 19, "four squares where a drop of an own knight checks"}},
	{"DropCheckSquares", true, fixed(dropCheckSquares), Example{exampleHands, 171, "a drop of an own knight on d6 checks"}},
	{"DropZone", true, fixed(dropZone), Example{exampleHands, 16,
		"an own knight may be dropped left below the enemy king, which alone defends that square"}},
	{"DropMoves", true, fixed(dropMoves), Example{exampleHands, 9, "31 to 48 squares for a pawn of the enemy's hand"}},
}

func fixed(s Set) func(*chess.Variant) Set { return func(*chess.Variant) Set { return s } }
