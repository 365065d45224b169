// Package nnue evaluates positions with efficiently updatable neural networks:
// their architectures, integer parameters, files and arithmetic.
//
// A network sees a position twice, from either side's perspective. In each,
// the active features of a sparse set (package nnue/features) select rows whose
// sum is an accumulator of Width int16 values and one piece-square sum per
// bucket. The accumulators, clipped to bytes and the side to move's first, pass
// through the bucket's stack of three small layers.
//
//	x       = clamp(accumulators, 0, 127)           both perspectives
//	y1      = clamp((b1 + W1 x)  >> 6, 0, 127)
//	y2      = clamp((b2 + W2 y1) >> 6, 0, 127)
//	N       = b3 + w3 y2                            positional part
//	P       = (own - enemy piece-square sum) / 2    material part
//	raw     = (P + N) / 16
//
// in exact integers; / drops the fraction, >> rounds down. Raw units are
// Fairy-Stockfish's, 208 to a displayed pawn, from the side to move's point of
// view. Network.Evaluate computes this plainly and Accumulator incrementally,
// with equal results.
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
// The hash words do not depend on the number of features: only its length tells
// a network for chess (45,056 features) from one for crazyhouse.
//
// # Our own file format
//
// Any other architecture is stored behind a header that describes it. All
// numbers are little endian and there are no gaps.
//
//	offset         type    content
//	0              byte*8  magic "SPNNUE\r\n"
//	8              uint32  version 1
//	12             uint32  H, length of the header, everything before the parameters
//	16             uint32  features in the set
//	20             uint32  transformer width, a multiple of 16 up to 2048
//	24             uint32  piece-square columns, equal to the stacks
//	28             uint32  stacks, 1..16
//	32             uint32  bucket rule: 1 pieces on board, 2 pieces in hand
//	36             uint32  outputs of layer 1, 1..128
//	40             uint32  outputs of layer 2, 1..128
//	44             uint32  activation: 1 clamp to 0..127
//	48             uint32  transformer scale 127: stored value of an activation of 1
//	52             uint32  layer scale 64: stored value of a layer weight of 1
//	56             uint32  output scale 16: N and P per raw unit
//	60             uint32  raw units per 1.0 of the float network, 600
//	64             uint64  FNV-1a hash of the feature set's name
//	72             uint64  S, length of the parameters
//	80             string  variant
//	               string  canonical name of the feature set
//	               string  description, any bytes
//	H                      parameters, as in Fairy-Stockfish's format from the
//	                       transformer biases on but without hash words; rows of
//	                       layer weights are padded to a multiple of 32 inputs
//	H+S            byte*32 SHA-256 of everything before
//	H+S+32                 end of file
//
// A string is a uint32 length and that many bytes. H is at most 1 MiB, variant
// and feature set are at most 256 bytes each.
//
//	version  since   change
//	1        0.1     first
package nnue
