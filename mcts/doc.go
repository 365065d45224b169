// Package mcts is the tree search engine: PUCT over a graph of positions whose
// move probabilities and values come from an [Evaluator], with a solver that
// knows mates and their distances.
//
// # The graph
//
// A node is a position at a ply of the game; a position that is reached in two
// ways in the same number of plies is one node, and since every move leads one
// ply further there are no cycles. A node's mean is computed anew from the means
// of the nodes its moves lead to, weighted by how often each move was tried here,
// whenever a playout passes; it is never summed up along paths. A playout ends at a
// move whose node has been visited more often than the move itself: it brings what
// is known there up without asking the evaluator.
//
// A position that stands on the board for the second time since the root, or for
// the third time in the game, is a draw by the way that led there. Such a draw
// belongs to the move and not to the position, and proves nothing.
//
// # Proofs
//
// Mate, stalemate and the draws of the variant are proven, and a node is once
// its moves decide it: won if a move leads to a loss, lost if all lead to wins, drawn
// if all are proven, none is such a loss and one is drawn. Wins count their
// shortest known distance in plies, losses their longest. Moves known to lose
// have no part in a node's mean.
//
// # Playing and learning
//
// [DefaultOptions] are for play. For making training data a Gumbel root with
// sequential halving gives sound targets from few playouts, and playout-cap
// randomisation spends them where they teach. Everything random
// comes from [Options.Rand]. One Engine is one tree. Searched by one thread, it gives
// the same answers to the same calls if no limit of time ends its searches. Many
// engines share one net by a [Batcher].
//
// # Threads
//
// Several threads take turns on one tree: each gathers a batch of positions, has it
// evaluated by an evaluator of its own while the others have their turns, and counts
// what came of it. Playouts that wait for an evaluation count as visits where moves
// are chosen, so that threads spread. Nodes need no more memory for it. As one thread
// at a time works on the tree, n threads are at most n times as fast, and no faster
// than gathering and counting alone.
package mcts
