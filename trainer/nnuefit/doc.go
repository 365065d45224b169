// Package nnuefit trains NNUE networks on a CPU.
//
// A Model is the float twin of an nnue.Network of any architecture that nnue
// evaluates. Fit makes one optimiser step on a batch of samples, Loss measures
// samples without training, Export rounds the weights to integers and writes the
// network file, Checkpoint and Restore move the whole state, optimiser included,
// to and from a stream. FitPQR learns from triples of positions in place of
// scores and results; a Ranker makes them of samples.
//
// # The net
//
// In float, for the side to move and its opponent as own and other:
//
//	acc  = bias + Σ (row[f] + virtual[v(f)])   per perspective, over its active features
//	x    = clamp(own acc ++ other acc, 0, 1)
//	h1   = clamp(b1 + (w1 + shared)·x, 0, 1)
//	h2   = clamp(b2 + w2·h1, 0, 1)
//	out  = b3 + w3·h2 + (own psqt − other psqt)/2
//
// with the layers and the PSQT column of the position's bucket; an architecture
// may lack layers, PSQT or king squares, or square the clipped sums, or multiply the
// first half of a perspective's clipped sums by the second. out·600 is in
// the raw units of the integer net, 208 to a pawn, seen by the side to move.
// virtual and shared are factorisers: what is learned with the king on one
// square, or in one bucket, serves the others. Both are summed into the weights
// on export. With Config.Quantise all of this is computed with the integer net's
// numbers, as if they were the parameters.
//
// # The loss
//
//	q = σ(600·out / NetScale)
//	t = λ·σ((raw score − ScoreOffset) / ScoreScale) + (1−λ)·result,   result 0, ½ or 1
//	loss = |q − t|^Power, or the cross-entropy of t and q
//
// with a single sigmoid: crazyhouse hardly knows draws, so there is no draw band
// to model.
//
// # Cost and order
//
// A crazyhouse position has 32 active features per perspective out of HalfKAv2's
// 55,296, so only the rows that occur in a batch are read, and only they are
// stepped; every Optimiser catches an idle row up in closed form when it next
// occurs. The gradient of a row is
// gathered over the list of its uses, in batch order, and dense gradients are
// summed over a fixed number of shards, so results have the same bits for any
// number of workers. Nothing but Fit and Restore changes the state: measuring,
// exporting and checkpointing at other times leaves the course of training as
// it was.
package nnuefit
