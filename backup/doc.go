// Package backup keeps copies of runs and brings them back.
//
// A Repository is a directory of snapshots, each the state of one directory of a run, of
// what the run's servers know, or of both:
//
//	parts/ab/ab12…        content, in parts of at most 1 MiB, each named by its SHA-256
//	snapshots/TIME-HASH   what a snapshot consists of, JSON
//	games/ID              games copied over the servers, of snapshots without a directory
//	LOCK                  see package dirlock
//
// Parts are written first, and the snapshot is renamed into its place when all of them
// are synced: it is there whole or not at all, and what a killed process leaves is used
// by the next. A part is never written twice, so that a further snapshot takes the room
// of what is new. All files can be read by their owner alone.
//
// Snapshots whose run.json is the same are of one directory. Those of other directories, and
// of servers alone, are counted and chosen by themselves.
//
// # Snapshot, schema 1
//
// The name is the time, as 20060102T150405.000Z, a hyphen, the first 16 hexadecimal digits
// of the file's SHA-256, and .json. One JSON object:
//
//	schema   1
//	created  time
//	build    of the program that made it
//	name, id of the run
//	from     where the state of the servers was read, in words
//	keys     paths of the keys that are in it; left out if there are none
//	files    by path: path from the run's directory, size in bytes, sha256, parts
//	games    number of game records in the segments of the replay buffer
//	digest   SHA-256 of, for each of these records in order, the SHA-256 of its bytes
//	notes    sentences about what is not in it; left out if there are none
//
// Files whose path begins with .servers/ are of no directory:
//
//	.servers/state.json    selfplay.ServerState
//	.servers/games.jsonl   games that are finished and not in the replay buffer: actor, id
//	                       of the message, data in base64
//	.servers/books/ID      the opening book of the run's settings
//	.servers/rejects.jsonl games that were quarantined: reason, data in base64
package backup
