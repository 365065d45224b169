// Package ab is the alpha-beta engine: iterative deepening over a principal
// variation search with a transposition table, quiescence, and the usual
// selective rules, for every variant that package chess knows.
//
// The engine asks a position's variant for properties, never for its name.
// Where captured pieces change hands, every exchange swings more (the victim
// is lost by one side and gained in hand by the other), quiet positions are
// rarer, and most moves are drops; [tuning] scales margins and reductions
// accordingly.
//
// What a position is worth is the business of an [Evaluator], made for each
// search thread by the function given to [New]. [Material] is the one that
// needs no network.
//
// One thread searching to a depth or a number of nodes is deterministic: the
// same calls after [Engine.NewGame] or on a fresh engine give the same moves,
// scores and node counts. Searches with several threads, or ended by a clock or
// a context, are not.
package ab
