// Package puzzles finds positions with one best move, keeps them as EPD, and measures
// how many of them a player solves.
//
// A [Puzzle] is a forced mate that one move alone leads to as fast, or a win that one
// move alone keeps. A [Miner] finds puzzles in games and verifies them: mates in up to
// three moves by [Prover], whose answers hold against every defence, the others by
// searches of many nodes for the two best moves. [Run] asks a player for its move in
// every puzzle. [Default] is the set of this module.
package puzzles
