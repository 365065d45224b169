// Package features maps positions to the sparse inputs of an NNUE network.
//
// A feature set numbers its features 0, 1, …, Size()-1. A position switches on
// a few of them, seen from one of two perspectives: the perspective's own side
// and the enemy take the places of White and Black, and for Black the board is
// mirrored rank by rank. A move switches only a few features on and off, so a
// sum of feature rows can be kept up to date; a move of the own king changes
// every feature of that perspective, which must then be rebuilt.
//
// The one set so far is HalfKAv2, the set of Fairy-Stockfish. Parse finds sets
// by name, as network files store them.
package features
