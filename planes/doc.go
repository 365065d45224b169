// Package planes shows positions to convolutional nets and reads their answers:
// 34 planes of 8×8 numbers in, a value and one logit for every way to move out.
//
// The layout of the planes, the 2,272 move labels and the 81×8×8 cells they lie
// on are those of version 1 of CrazyAra's crazyhouse nets, so that nets go both
// ways. docs/formats.md has the tables.
//
// Everything is seen by the side to move: row 0 is its back rank, columns run
// from file a to file h for both sides. For Black the board is thus mirrored top
// to bottom, not turned. A square's place on its plane is row·8 + column.
//
// A [Net] is a [Runtime], which computes the convolutions and knows no chess, with
// a [Meta], which says what its planes and policy mean.
package planes
