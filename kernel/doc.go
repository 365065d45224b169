// Package kernel holds the numeric inner loops of evaluation and training:
// functions on plain slices that know nothing of chess.
//
// The integer part (files int*.go) serves quantised networks:
//
//   - rows: sums of rows of a table, kept up to date by adding some rows and
//     subtracting others (the accumulator of an NNUE network, int16, and its
//     piece-square sums, int32);
//   - activation: the clipped rectifier, which turns int16 or int32 sums into
//     bytes 0..127, most of which are zero;
//   - affine layers: int8 matrix times a vector of such bytes, exact in int32.
//
// Sums of rows wrap around on overflow like ordinary Go integers, so the order
// of additions and subtractions never changes a result. Matrix products are
// exact: 16-bit saturation, which some engines inherit from an x86
// instruction, does not occur.
//
// The float part (files float*.go) serves training.
//
// Slices passed to one call must have the lengths the function documents;
// a wrong length panics like any index out of range.
package kernel
