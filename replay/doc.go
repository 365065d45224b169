// Package replay keeps the games of a run on disk and draws training samples
// from the newest of them.
//
// A Buffer is a directory that one process owns:
//
//	00000001.seg …   segments: the games, in the order they came
//	retired.ids      ids of games whose segments were deleted
//	manifest.json    which segments there are, with how many games; counts of what
//	                 was deleted and refused; the excluded actors
//	quarantine/      games that failed validation, each with the reason
//	mirror.json      in a Mirror: how far it is
//	LOCK             see package dirlock
//
// The segments hold all that is known of the stored games: it is recounted from them
// at Open, and by Audit with no other state. The manifest says what they should hold,
// so that whoever reads the buffer can tell which games are lost.
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
//	12  …   the game, as package game encodes it, with or without a seal
//
// A reader that meets a damaged record looks for the next place where a whole
// one begins, so that damage costs the games it touches and no other.
//
// # Retired ids, version 2
//
//	0   8   magic "ZHRI" and the version as four bytes
//	8   …   12 bytes an id, oldest first: a 64-bit hash, bytes 0 to 7 of SHA-256(id),
//	        and the CRC-32C of these. Version 1 has the hashes alone
//
// # Manifest, schema 3
//
// One JSON object with these keys and no others, numbers from 0 to 2^64−1:
//
//	schema         3
//	id             of the buffer, 10 random characters of a-z2-7
//	run            id of the run; may be left out
//	variant        name of the variant
//	first_segment  number of the first segment that is not deleted, from 1
//	segments       what there is, in order: number; games, those written to it; bytes.
//	               The newest segment may have more of both
//	retired        sums over the deleted segments: games; held_out, those of
//	               them never trained on; rows, the trainable positions of the
//	               others
//	duplicates     games refused because they had been stored before
//	quarantined    games refused because they failed validation
//	changes        how often an actor was excluded or included; left out if 0
//	excluded       actors whose games are not trained on: actor, why; left out if
//	               there are none
//	crc32c         of the text without this key, see package internal/durable
//
// It is written when a segment begins, when one is deleted, when games were refused,
// when an actor is excluded or included, and by Close. Schema 1 has neither id, run,
// segments, changes nor excluded, schema 2 no crc32c.
//
// # Chunk of games, version 1
//
// What a Mirror is sent; little endian:
//
//	0   4   magic "ZHRC"
//	4   1   version, 1
//	5   1   flags: 1, the reader begins anew; 2, there are no more games
//	6   1   length n of the buffer's id, at most 64
//	7   n   the id
//	    8   changes, as in the manifest
//	    24  games, held_out and rows of the games before the first, if flag 1 is set
//	    24  the same of all games of the buffer
//	    16  segment and offset after the last game
//	    4   number of games
//	    …   each game: two bytes of length, from 1, and the game
//	    4   CRC-32C of all that
//
// # Versions
//
//	file      version  since   change
//	segment   1        0.1     first
//	ids       1        0.1     first
//	manifest  1        0.1     first
//	manifest  2        0.1     id, run, segments, changes, excluded
//	chunk     1        0.1     first
//	mirror    1        0.1     first
package replay
