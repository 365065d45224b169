// Package planesfit trains convolutional nets on planes on a CPU.
//
// A Model is a net of an arch.Architecture with its optimiser. Fit makes one
// optimiser step on a batch of samples, Loss measures samples without training,
// Export writes the net as an ONNX file, Checkpoint and Restore move the whole
// state, optimiser included, to and from a stream.
//
// # The loss
//
// Of one position, with the weights of Config:
//
//	PolicyWeight · −Σ p·log q      over the legal moves alone
//	ValueWeight  · −Σ t·log r      over loss, draw and win; (t − v)² without these
//	PliesWeight  · (n − m)²        n = min(plies to the end, 100) / 100
//
// p is the search's distribution over the moves or, where a sample has none, all
// on its move; q is the softmax of the logits of the legal moves. A position
// without a known legal move, like one without known plies, has no such part. Of
// the value, the share λ is what the search said, σ(score/ScoreScale) for win and
// the rest for loss: crazyhouse hardly knows draws. The share 1−λ is the game's
// result. v = tanh is compared with wins less losses of the same mixture.
//
// # Batches
//
// A batch is cut into parts of at most Config.Part positions. Each part is
// normalised by its own means and variances, as every worker of a larger machine
// would do ("ghost" batches, Hoffer et al. 2017); running means and variances
// follow those of the whole batch. So parts are independent of each other, and a
// part's activations stay near the caches. Derivatives are summed in the order of
// the parts, in a fixed number of groups: results have the same bits for any
// number of workers.
//
// The derivatives of a layer overwrite what they are derivatives of, as that is
// not needed any more: a part takes little more memory than the pass forward.
//
// Nothing but Fit and Restore changes the state: measuring, exporting and
// checkpointing at other times leaves the course of training as it was.
package planesfit
