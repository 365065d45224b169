// Package nnue evaluates positions with efficiently updatable neural networks:
// their architectures, integer parameters, files and arithmetic.
//
// A network sees a position twice, from either side's perspective. In each,
// the active features of a sparse set (package nnue/features) select rows whose
// sum is an accumulator of Width int16 values and, in most networks, one
// piece-square sum per bucket. The accumulators, activated and the side to
// move's first, pass through the bucket's stack of at most three small layers.
//
//	x       = f(clamp(accumulators, 0, 127))             both perspectives
//	y1      = clamp((b1 + W1 x)  / LayerScale, 0, 127)   rounded down
//	y2      = clamp((b2 + W2 y1) / LayerScale, 0, 127)   rounded down
//	N       = b3 + w3 y2                                 positional part
//	P       = (own - enemy piece-square sum) / 2         material part
//	raw     = (P + N) / OutputScale
//
// in exact integers; where not said otherwise, / drops the fraction. f(x) is x
// or, for SCReLU, x²/127 rounded down; for the pairwise product it is one number of
// the accumulator's first half times that of the second half, /127 rounded down. A network with fewer layers leaves out
// y2, or y1 and y2; one without piece-square columns has P = 0. Raw units are
// Fairy-Stockfish's, 208 to a displayed pawn, from the side to move's point of
// view. Network.Evaluate computes this plainly and Accumulator incrementally,
// with equal results. With the build tag invariants an Accumulator compares
// each of its results with the plain one, and panics where they differ.
//
// # Fairy-Stockfish's file format
//
// A network whose architecture is Fairy() is stored as Fairy-Stockfish stores
// it (read from src/nnue of commit c19b5f6c), so that engine loads our networks
// and we load its. All numbers are little endian and there are no gaps; n is
// the length of the description.
//
//	offset         type    count      content
//	0              uint32  1          version 0x7AF32F20
//	4              uint32  1          file hash 0x3C103E72
//	8              uint32  1          n
//	12             byte    n          description, any bytes
//	12+n           uint32  1          transformer hash 0x5F2348B8
//	16+n           int16   512        transformer biases
//	1040+n         int16   55296*512  transformer weights, feature by feature
//	56624144+n     int32   55296*8    piece-square values, feature by feature
//	58393616+n             8*17640    the layer stacks, bucket 0 first
//	58534736+n                        end of file
//
// One stack:
//
//	0              uint32  1          network hash 0x633376CA
//	4              int32   16         layer 1 biases
//	68             int8    16*1024    layer 1 weights, output by output
//	16452          int32   32         layer 2 biases
//	16580          int8    32*32      layer 2 weights, 16 of each row are padding
//	17604          int32   1          output bias
//	17608          int8    32         output weights
//
// The hash words do not depend on the number of features: only its length
// distinguishes a network for chess (45,056 features) from one for crazyhouse.
//
// # Stockfish's older file format
//
// A network whose architecture is HalfKP() is stored as Stockfish 12 and 13
// stored theirs (read from commit f90274d8 of Fairy-Stockfish's history), in
// the same manner but with other words, one stack and no piece-square values.
//
//	offset         type    count      content
//	0              uint32  1          version 0x7AF32F16
//	4              uint32  1          file hash 0x3E5AA6EE
//	8              uint32  1          n
//	12             byte    n          description, any bytes
//	12+n           uint32  1          transformer hash 0x5D69D7B8
//	16+n           int16   256        transformer biases
//	528+n          int16   41024*256  transformer weights, feature by feature
//	21004816+n     uint32  1          network hash 0x63337156
//	21004820+n     int32   32         layer 1 biases
//	21004948+n     int8    32*512     layer 1 weights, output by output
//	21021332+n     int32   32         layer 2 biases
//	21021460+n     int8    32*32      layer 2 weights
//	21022484+n     int32   1          output bias
//	21022488+n     int8    32         output weights
//	21022520+n                        end of file
//
// # Our own file format
//
// Any other architecture is stored after a header that describes it. All
// numbers are little endian and there are no gaps.
//
//	offset         type    content
//	0              byte*8  magic "SPNNUE\r\n"
//	8              uint32  version 1
//	12             uint32  H, length of the header, everything before the parameters
//	16             uint32  features in the set
//	20             uint32  transformer width, a multiple of 16 up to 2048
//	24             uint32  piece-square columns: 0 or as many as stacks
//	28             uint32  stacks, 1..16
//	32             uint32  bucket rule: 1 pieces on board, 2 pieces in hand
//	36             uint32  outputs of layer 1, to 128; 0: neither layer 1 nor 2
//	40             uint32  outputs of layer 2, to 128; 0: no layer 2
//	44             uint32  activation: 1 clipped ReLU, 2 SCReLU, 3 pairwise product
//	                       (the width is then a multiple of 32)
//	48             uint32  transformer scale 127: stored value of an activation of 1
//	52             uint32  layer scale: stored value of a layer weight of 1, a
//	                       power of two, 16..128
//	56             uint32  output scale: N and P per raw unit, 1..1024
//	60             uint32  raw units per 1.0 of the float network, 1..65536
//	64             uint64  FNV-1a hash of the feature set's expression
//	72             uint64  S, length of the parameters
//	80             string  variant
//	               string  canonical expression of the feature set
//	               string  description, any bytes
//	H                      parameters, as in Fairy-Stockfish's format from the
//	                       transformer biases on but without hash words and
//	                       without what the architecture lacks; rows of layer
//	                       weights are padded to a multiple of 32 inputs
//	H+S            byte*32 SHA-256 of everything before
//	H+S+32                 end of file
//
// A string is a uint32 length and that many bytes. H is at most 1 MiB, the
// variant at most 256 bytes, the feature set at most features.MaxExpression. A
// file of an architecture that Stockfish's formats store must be in those.
//
//	version  since   change
//	1        0.1     first
package nnue
