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
// The float part (files float*.go) serves training. Every kernel adds in a fixed
// order, so that equal inputs give equal bits again, and the levels differ by
// this:
//
//   - kernels that treat elements alike, and sums of rows, give the same bits at
//     every level;
//   - matrix products, FloatAffine, FloatAffineBack and FloatGemm, round a
//     product and its addition at once at AVX2 and AVX512, which agree in every
//     bit, and one after the other at Generic. An element with n products is
//     within (n+2)·2⁻²⁴ of the sum of its terms' magnitudes of the exact value,
//     unless it leaves the range of float32.
//
// Plain code is written so that no compiler fuses the two: a level's bits are the
// same on every architecture. NaN and infinities spread as in ordinary arithmetic, except
// where a function says otherwise; an input that is not active is not looked at.
//
// Slices passed to one call must have the lengths the function documents;
// a wrong length panics like any index out of range.
package kernel
