// Package game plays games between two Players and keeps what was played: a
// Game is a start position, its plies with what the search said about each, how
// it ended, and which nets, seed and build made it.
//
// # Record
//
// A game is encoded once, by the actor that played it. That byte string is the
// message on the bus, the actor's spool file and the record in the replay
// buffer's segments. Integers are little-endian. It is
//
//	offset  bytes  field
//	0       4      magic "ZHGM"
//	4       1      version
//	5       2      n, length of the whole record
//	7       4      CRC-32C (Castagnoli) of bytes 0 to 6 and 11 to n−1
//	11      1      variant: 1 crazyhouse, 2 chess
//	12      1      flags: bit 0 Chess960, bit 1 a start FEN follows; others 0
//	13      1      bits 0–1 outcome, bits 2–3 verdict of the score adjudication
//	               (both as chess.Outcome: 1 White wins, 2 Black wins, 3 draw;
//	               the verdict may be 0 for none); others 0
//	14      1      reason, as chess.Reason and the reasons of this package
//	15      2      number of plies, at most MaxGamePlies
//	17      8      seed
//	25             texts: id, net of White, net of Black, limits, build and,
//	               if flag bit 1 is set, the start FEN
//	…              plies, a string of bits, highest bit of each byte first
//
// A text is a byte t and what it announces: t ≤ 250, that many bytes as they
// are; 251, the 16 bytes of a UUID in its lower-case text form; 252, 32 bytes
// in lower-case hexadecimal; 253, the text before this one again. The writer
// takes the highest of these that fits. A game without a start FEN begins
// at the start position of its variant.
//
// The plies are coded as package plycode says, with every move the one that was
// made: by version 2 without policies, by version 3 as a series of policies, at
// least one ply having one, by version 1 as DecoderV1 says. Version 2 is written
// of games without policies, version 3 of games with. Every field is in its one
// shortest form, the order of the score code (the lowest of equals) included, so
// a game has one record only. Decoding replays it by the rules of package chess:
// a record with an illegal move is refused. A game must not go on after the
// rules have ended it, and its outcome must be theirs where they give one.
//
// The record keeps everything in a Game but what is there for PGN: see Ply and
// Game.
//
//	version  since   change
//	1        0.1     first
//	2        0.1     plies: moves are read without generating moves
//	3        0.1     plies: what tree searches made of the moves
//
// # Seal
//
// An actor of a run on many machines signs what it plays. A sealed record is
//
//	offset  bytes  field
//	0       4      magic "ZHGS"
//	4       1      version 1
//	5       32     public key, Ed25519
//	37      64     signature over "selfplay game\n" and the record
//	101            the record, to the end
//
// Decode, DecodeHeader and Split pass over a seal, and [Unseal] checks it.
package game
