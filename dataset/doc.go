// Package dataset is training data by name: files of samples, whatever their
// format, and replay buffers alike. It opens and creates them, converts, filters,
// checks, counts, shuffles and splits them, and makes a trainer's source of them.
// Memory stays bounded whatever their size.
//
// # Names
//
// A [Source] is one file or buffer being read, a [Sink] one being written; the
// format goes by the name. An [Input] can be opened again and again and is then
// the same.
//
// # Training
//
// [Read] reads inputs once: it counts, decides what is kept, and gathers
// statistics. A [Set] then draws what is kept in epochs, each position once an
// epoch, in an order that follows from the seed and the number of the epoch alone,
// so that a draw can begin anywhere (Set.Seek). If the positions do not fit into
// the budget of memory, each epoch deals them at random into windows of which two
// do, one in use and one being read, and the inputs are read anew for each window:
// the shuffle is one of all positions still, bought with reading.
//
// # Games
//
// Whole games are distinguished by their records, samples without a game by their
// plies and results: a game begins where the ply does not rise or the result is
// another.
//
// Games are held out by their ids, as the replay buffer does it (sample.HeldOut).
// Samples without a game are held out by where their game begins and how many
// games come before it; Split, which has all of a game in memory and may be asked
// for another share, goes by all positions of the game. Beside the held-out games
// a Set has a second part to measure, the newest of the data.
package dataset
