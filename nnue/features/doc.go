// Package features maps positions to the sparse inputs of an NNUE network.
//
// A feature set numbers its features 0, 1, …, Size()-1. A position switches on
// a few of them, seen from one of two perspectives: the perspective's own side
// and the enemy take the places of White and Black, and for Black the board is
// mirrored rank by rank. A move switches only a few features on and off, so a
// sum of feature rows can be kept up to date: a Linear set says what a Change
// changes, any set tells the Difference of two positions.
//
// # Expressions
//
// Sets are made of blocks by two operations; the algebra and the names of most
// blocks are those of Lombardo's thesis on NNUE (2024). A block is a set of
// tuples and a predicate that says whether a tuple holds. The sum A + B puts
// blocks side by side; the product A * B has a feature for every pair, active
// while both are. * binds stronger, parentheses group:
//
//	All + PH + Hand
//	King * (P + Hand)
//	All + HandHeld * All
//
// Parse reads such expressions and String writes them.
//
// # Blocks
//
// n pieces are on the board; a side's kinds are pawn, knight, bishop, rook, queen
// and king. The number of a feature is built from its parts in the order in
// which they stand here, the last one running fastest; a kind and side is one
// part, plane = 2*kind + 0 for the own side and 1 for the enemy's, own king 10,
// enemy king 11. Ranks and squares are those of the own side: own pawns go up.
//
//	name        a feature is                                       size      most active
//	All         plane, square: a piece stands there                768       n
//	P           the same without kings                             640       n-2
//	King        square: the own king stands there                  64        1
//	KingAll     King * All                                         49,152    n
//	HalfKP      King * P in the layout of its file format          41,024    n-2
//	HalfKAv2    King * All, kings in one plane, hands: see there   45,056    n
//	            in variants with hands                             55,296    32
//	EnemyKing   square: the enemy king stands there                64        1
//	KingZone    rank 1, 2, higher, pair of files: the own king     12        1
//	KingHalf    square of files e to h, where the own king stands  32        1
//	            once files are mirrored for it to stand there
//	AllHalf     All with files mirrored like that                  768       n
//	H           plane, rank: a piece stands on it                  96        n
//	V           plane, file                                        96        n
//	D1          plane, rising diagonal (file-rank+7)               180       n
//	D2          plane, falling diagonal (file+rank)                180       n
//	PH          rank, left plane, right plane: two pieces are      1,152     n - n/8
//	            neighbours with only empty squares between
//	PV          file, lower plane, upper plane                     1,152     n - n/8
//	MB          plane, square: a piece may go there (Destinations) 768       616
//	MC          plane, Mobility 1 to MobilityTop                   see there 12
//	Threats     attackers' plane, victim's plane and square: they  6,400     8(n-2)
//	            attack or defend it; without kings
//
// Only in variants with hands:
//
//	Hand        plane, step 1..16: the hand holds that many        160       32-n
//	HandCapped  the same with 16, 4, 4, 4, 2 steps                 60        32-n
//	HandExact   plane, number 1 to 16, 4, 4, 4, 2: exactly as many 60        10
//	HandHeld    plane: the hand holds some                         10        10
//	HandPairs   two planes: the hands hold some of both            45        45
//	HandTotal   side, number 0..30 of all pieces in the hand       62        2
//	Promoted    plane - 2, square: a promoted piece stands there   512       16
//	DropChecks  plane, number 1..8 of empty squares from which a   80        10
//	            piece of a kind in hand would check
//	DropCheckSquares
//	            plane, empty square from which a piece of a kind   640       128
//	            in hand would check
//	DropZone    plane, step 0..7 from the other side's king: an    80        80
//	            empty square for a piece of a kind in hand, which
//	            no piece defends but that king; steps from left
//	            below in the order of squares
//	DropMoves   side, band: squares for a pawn in hand             10        2
//
// Predicates are existential: two own rooks on a rank make one feature of H.
// Larger numbers than there are features for count as the largest. King * Hand
// is the hand part of HalfKAv2, King * P is HalfKP without the unused feature 0
// of each of its 64 groups: 40,960 features and 64.
//
// # Cost
//
// Linear sets are kept up to date by what a move changes, without a look at the
// board; a move of the own king collects a set with King anew, from the last position
// with the king there. Of the other blocks Difference compares two positions: H, V,
// D1, D2, PH and PV the kinds or lines that changed, Threats the attackers whose lines
// changed, the rest all they have. docs/performance.md has what each block costs beside
// All + Hand.
//
// # Mobility
//
// MC gives a feature to the mobilities 1 to MobilityTop of each kind. 0 has
// none: it is the most frequent value of most kinds, for want of pieces, and the
// absence of the others says as much. The figures come from the histogram of
// Mobility over positions and both sides, one histogram per kind: the largest
// value that one in a thousand reaches. They sum to 108 a side in crazyhouse
// and 114 in chess; values above them share the last feature.
package features
