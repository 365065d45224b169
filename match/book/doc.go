// Package book reads, makes and ships opening books: lists of positions, or of
// short lines, that games begin from.
//
// [Read] takes EPD, FEN and PGN, plain or compressed by gzip, in every dialect
// of crazyhouse positions [chess.ParseFEN] knows. [Default] is the book of this
// module.
//
// A book is made in two steps. An [Explorer] walks from the start position:
// each ply is drawn from the moves a player finds best, the better the likelier, and a
// judge scores where the walk ends. Every walk depends on the settings and its
// own number alone, so walks are the same in whatever order and on however many
// goroutines they are made, and a journal of those made is all that it takes
// to go on later. A [Selector] then keeps a part of them: no position twice, nor with the
// colours reversed, all scores within a band, and as even a share as
// can be of every stratum of score, pieces in hand and side to move.
//
// Crazyhouse needs books of its own: lines of a few plies leave
// the hands empty and never test what sets the game apart, and White's
// advantage makes a book of level-looking positions anything but level. Scores
// here are centipawns from White's side, and a band may lie off zero.
package book
