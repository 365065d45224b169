// Package pool makes a trainer's source of files of samples and of replay
// buffers: filtered, split into training and held-out games, and shuffled as a
// whole within a budget of memory.
//
// Open reads everything once: it counts, decides what is kept, and gathers
// statistics. What is kept is then drawn in epochs, each position once an epoch,
// in an order that follows from the seed and the number of the epoch alone, so
// that a draw can begin anywhere (Set.Seek). If the positions do not fit into
// the budget, each epoch deals them at random into windows of which two do, one
// in use and one being read, and the inputs are read anew for each window: the
// shuffle is one of all positions still, bought with reading.
//
// Games are split by their ids as the replay buffer splits them (sample.HeldOut),
// samples without a game by where their game begins. Beside the held-out games
// there is a second set to measure, the newest part of the data.
package pool
