// Package replay keeps the games of a run on disk and draws training samples
// from the newest of them.
//
// A Buffer is a directory that one process owns:
//
//	00000001.seg …   segments: the games, in the order they came
//	retired.ids      ids of games whose segments were deleted
//	manifest.json    counts of what was deleted, and of what was refused
//	quarantine/      games that failed validation, each with the reason
//	LOCK             see package dirlock
//
// The segments hold all that is known: everything else about the stored games is
// recounted from them at Open, and Audit recounts it with no state at all.
// Only the newest segment is ever written to. A game is in it, synced, when
// Append returns; a crash before that can leave part of a record at its end,
// which Open cuts off.
//
// # Segment format, version 1
//
// All numbers are little endian. A segment begins with 24 bytes:
//
//	0   4   magic "ZHRS"
//	4   1   version, 1
//	5   1   length of the variant's name, 1 to 14
//	6   14  name of the variant, zeros after it
//	20  4   CRC-32C of bytes 0 to 19
//
// Records follow without a gap, each with 12 bytes in front of the game:
//
//	0   4   marker F0 9E 5A C3
//	4   2   length of the game in bytes, 1 to 65535
//	6   2   number of its plies that may be trained on
//	8   4   CRC-32C of bytes 4 to 7 and of the game
//	12  …   the game, as package game encodes it
//
// A reader that meets a damaged record looks for the next place where a whole
// one begins, so that damage costs the games it touches and no other.
//
// # Retired ids, version 1
//
//	0   8   magic "ZHRI" and the version as four bytes
//	8   …   64-bit id hashes, oldest first: bytes 0 to 7 of SHA-256(id)
//
// # Manifest, schema 1
//
// One JSON object with these keys and no others, numbers from 0 to 2^64−1:
//
//	schema         1
//	variant        name of the variant
//	first_segment  number of the first segment that is not deleted, from 1
//	retired        sums over the deleted segments: games; held_out, those of
//	               them never trained on; rows, the trainable positions of the
//	               others
//	duplicates     games refused because they had been stored before
//	quarantined    games refused because they failed validation
//
// # Versions
//
//	file      version  since   change
//	segment   1        0.1     first
//	ids       1        0.1     first
//	manifest  1        0.1     first
package replay
