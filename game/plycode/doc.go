// Package plycode codes series of plies in bits: moves, scores and what else is
// known about each. It is the body of game records and of chained files of
// samples.
//
// # Code
//
// Bits fill each byte from the highest. A series begins with 4 bits, the order k
// of the score code. Then each ply is
//
//	1 or 5 bits  0: flags as before, the first ply's "before" being score and
//	             train; 1: four bits follow, from the highest raw, other, train,
//	             score. Raw and other hold for one ply only: "before" counts them
//	             as clear.
//	move         the move on record; if raw, 17 bits: the move's 16-bit code
//	             (chess.Move) and a bit for partial
//	move         if other: the move that was made instead
//	score        if score: the sum s of the score and that of the latest ply
//	             before it that had one (0 if none), mapped by s ≥ 0 → 2s,
//	             s < 0 → −2s−1, in an Exp-Golomb code of order k: for
//	             u = value + 2^k with b bits, b−1−k zeros and then u in b bits
//	policy       if policy, which only series of policies have
//
// and zeros fill the last byte. The number of plies is known from elsewhere. The
// two sides see a game from opposite ends, so the sum of successive scores is
// near 0.
//
// A move is two numbers in truncated binary: i of n choices takes k = ⌊log2 n⌋
// bits for i < u = 2^(k+1) − n, else the k+1 bits of i + u. The first number
// chooses among the side's pieces, in rising order of their squares, and after
// them the kinds in its hand, from pawn to queen. The second chooses among the
// squares the piece may go to, in rising order, check and pins left out of
// account:
//
//	knight to queen  what it attacks, but for own pieces
//	king             the same, then the rooks it has the right to castle with
//	pawn             one and two steps ahead if empty, and what it attacks where
//	                 an enemy stands or that may be taken en passant; where it
//	                 promotes each square counts four times, N B R Q
//	drop             empty squares; for pawns not the first and last rank
//
// So a move is read without generating moves, and then tested for being legal.
// A move that is not legal, or whose piece is not known (partial), is written
// raw. A series ends after such a move unless another was made.
//
// # Policies
//
// In a series of policies flags have a fifth bit, policy, above raw, which is among
// those before the first ply. A policy is what a tree search made of the legal
// moves (search.Policy):
//
//	count        n, number of moves, in an Exp-Golomb code of order 4; if n is 0,
//	             nothing follows: the search was too cheap to teach
//	8 bits       surprise, in 1/32 nat
//	4 bits       order of the code of weights
//	16 bits      weight of the first move
//	move         the first move
//	n−1 times    by how much the weight is less than the one before, in an
//	             Exp-Golomb code of that order; move
//
// It takes at most MaxPolicyBytes: of a longer one the moves at its end, those of
// least weight, are left out.
//
// A series has one code, given its order: the Decoder refuses flags repeated,
// raw moves that need not be, and other moves equal to the first.
//
//	version  since  change
//	1        0.1    first; game record version 2
//	2        0.1    series of policies; game record version 3
package plycode
