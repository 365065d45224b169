// Package bin reads and writes .bin files, the training data of
// variant-nnue-tools and its ancestors: bare sequences of records of one size,
// without header or checksum.
//
// A record, integers little-endian, of 72 bytes ([Bits512]) or 40 ([Bits256]):
//
//	position     64 or 32 bytes, a stream of bits, see below
//	score        int16, for the side to move, in 1/208 pawn
//	move         uint16, the best move of the search
//	ply          uint16, plies since the start of the game
//	result       int8, 1 if the side to move won, 0 draw, -1
//	padding      1 byte, written as 0 and ignored
//
// The position is a stream of bits, the lowest bit of each byte first and the
// lowest bit of each number first, filled up with zeros:
//
//	1            side to move, 1 for Black
//	7 (6) each   squares of the white and the black king, a1 = 0 to h8 = 63
//	1 or 6 (5)   each other square, from a8 to h8, then rank 7 and so on: 0 if
//	             empty; else the number 2·kind+1 in 5 (4) bits, pawn to queen
//	             being 0 to 4, and the colour, 1 for Black
//	60 (0)       hands: white pawns to queens and kings, then black, 5 bits each
//	4            rights to castle: White's kingside, queenside, Black's
//	1, 8 (7)     0, or 1 and the en passant square
//	6            halfmove clock, the low bits
//	16           number of the full move
//	1            halfmove clock, bit 6
//
// Numbers in parentheses are those of Bits256, which has no hands. The move is
// the target square in bits 0 to 5, for castling that of the rook, the origin in
// bits 6 to 11, 0 for drops, and above that in Bits512 the type: 0 normal, 1 en
// passant, 2 castling, 3 promotion, 4 drop; in Bits256 the piece promoted to,
// knight to queen, in two bits, and the type in two: 0 normal, 1 promotion, 2 en
// passant, 3 castling.
//
// Builds for large boards write another move: squares are 12·rank+file, in 7
// bits each, and two bits are left for the type, so that drops become moves from
// a1. [Reader] recognises it; [Writer] writes the first form always.
//
// Sources: sfen_packer.cpp of variant-nnue-tools and of nodchip's Stockfish.
package bin
