// Package chain reads and writes .chain files: training data of crazyhouse and
// chess as whole games, or as chains of samples that follow from one another. It
// keeps all that a game record keeps, and of a sample all that other formats know.
//
// # Blocks
//
// A file is a sequence of blocks that do not depend on each other, so files may
// be appended to one another, and reading may begin anywhere. Integers are
// little-endian. A block is
//
//	offset  bytes  field
//	0       4      magic "ZHCB"
//	4       1      version: 1, or 2 if a game in it has policies
//	5       1      variant: 1 crazyhouse, 2 chess
//	6       2      unit of the scores: that of one pawn
//	8       4      n, bytes of the payload, 1 to MaxPayload
//	12      4      number of items
//	16      4      number of plies in them
//	20      4      CRC-32C (Castagnoli) of the payload
//	24      4      CRC-32C of bytes 0 to 23
//	28      n      payload: the items
//
// An item is its length as a varint and that many bytes. A varint is seven bits a
// byte, the lowest first, with bit 7 set on all but the last.
//
//	bytes   field of a chain
//	1       bit 0 clear; bit 1: a position follows; bits 2-3: the result from
//	        White's view, 0 draw, 1 win, 2 loss; others 0
//	varint  plies, 1 to MaxPlies
//	varint  ply of the first sample, counted from the start of its game
//	…       the position, if bit 1 is set; else it is the variant's start
//	…       plies, as package plycode has them
//
//	bytes   field of a game, as in its record (package game)
//	1       bit 0 set; bit 1: a position follows; bit 2: plies have policies;
//	        others 0
//	1       outcome in bits 0-1, verdict in bits 2-3; others 0
//	1       reason
//	varint  plies
//	8       seed
//	…       texts: id, net of White, net of Black, limits, build
//	…       the start position, if bit 1 is set
//	…       plies, the same bytes as in a record of version 2, or 3 if bit 2 is set
//
// A text has the forms of a game record, and "the text before" is the same field
// of the game before it in the block, empty in the first. One form is new: 254
// and two bytes p and n, then n bytes to put after the first p of the text
// before.
//
// A position is
//
//	1       bits: 0 Black to move, 1 hands, 2 promoted pieces, 3 castling,
//	        4 en passant, 5 Chess960, 6 halfmove clock, 7 move number
//	8       occupied squares, a1 in the lowest bit
//	⌈m/2⌉   the m pieces in the order of their squares, the first in the low half
//	        of its byte: kind, pawn 0 to king 5, and bit 3 for Black
//	7       if bit 1: hands, 5 bits each, White's pawns to queens from the lowest
//	        bit, then Black's
//	⌈m/8⌉   if bit 2: for each piece, lowest bit first, whether it was promoted
//	2       if bit 3: files of the rooks that may castle, on ranks 1 and 8
//	1       if bit 4: the en passant square
//	varint  if bit 6: halfmove clock, else 0
//	varint  if bit 7: number of the move, else 1 + ply of the first sample / 2
//
// # Chains
//
// A sample continues a chain if its ply is the next, its result the opposite one,
// and its position, clocks and promoted marks included, is the one after the
// move of the sample before, or after another legal move, which then stands in
// the chain too. Any other sample begins a chain. The unit of a block with games
// is the centipawn.
//
// # Damage
//
// A block whose checksum is wrong, or that is not all there, is left out and
// reported; reading goes on with the next whole one, even if that begins before
// the end that the header of the bad one says: a file may have been appended to
// one whose writer was stopped. What does not make up a block at the end of a
// file, such as that writer leaves, is not read; Recover finds where it begins.
// A file that begins with something else is refused, unless a whole block begins
// within the size of the largest one.
//
//	version  since  change
//	1        0.1    first
//	2        0.1    what tree searches made of the moves
package chain
