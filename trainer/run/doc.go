// Package run trains nets by settings. Training is what every run has in common, a
// loop's learner too: the net, its model, schedules and scale of scores. Run and Sweep
// train on given data: one run in one directory, from which it goes on after any
// interruption, or many runs that differ in some settings.
//
// A run's directory:
//
//	config.yaml            the settings, all of them
//	data.txt, data.json    what became of the data, and statistics of it
//	data.png               the same as histograms
//	replay.json            which games of replay buffers the run is of
//	log.jsonl              one JSON object a line: steps and validations
//	events.out.tfevents.*  the same for TensorBoard
//	loss.png               the same as curves
//	checkpoints/           two newest states of training, see package trainer
//	best/                  the two best so far, if newbob is on
//	net.nnue, net.onnx     the net as of the newest checkpoint
//	nets/                  every checkpoint's net, if asked for
//	summary.json           what came of it; there once the run is over
//	interrupted.json       the time spent until the last interruption
//	diverged.chain         the batch at which training diverged, if it did
//	LOCK                   see package dirlock
//
// Whatever ends a run, the same settings continue it from the newest checkpoint,
// and bit by bit as if it had not been ended: nets, checkpoints and losses are the
// same. Entries of the log after the checkpoint are made anew.
package run
