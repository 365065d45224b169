// Package planes encodes positions for convolutional nets and decodes their outputs:
// 34 planes of 8×8 numbers in, a value and one logit for every way to move out.
//
// The layout of the planes, the 2,272 move labels and the 81×8×8 cells they lie
// on are those of version 1 of CrazyAra's crazyhouse nets, so that nets go both
// ways. docs/formats.md has the tables.
//
// Everything is from the side to move's point of view: row 0 is its back rank, columns run
// from file a to file h for both sides. For Black the board is thus mirrored top
// to bottom, not turned. A square's place on its plane is row·8 + column.
//
// A [Net] evaluates positions. It is a [Runtime], which runs the convolutions and
// knows no chess, with a [Meta], which states what the planes and the policy mean.
package planes
