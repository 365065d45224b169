// Package lab makes comparisons of representations: nets that learn from the same
// positions in the same order, and then play each other.
//
// A comparison has rows, each an architecture or a set of inputs, and trains several nets
// of each, one for every seed. Net s of a row meets net s of every other row and every
// anchor. Nets with one seed drew the same positions in the same order, so what the seed
// decides for all of them does not look like a difference of rows; and the number of
// games grows with the number of seeds, not with its square. Nets of different seeds meet
// only by way of the anchors.
//
// # Directory
//
// All work is in cells, each named by a hash of everything that it follows from:
//
//	plan.yaml              the comparison
//	progress.json          how far it has come
//	data.json              which games of replay buffers it is of
//	cells/train/KEY/       a net: a directory of learn, see package trainer/run
//	cells/size/KEY.json    positions in an epoch
//	cells/speed/KEY.json   what a net's evaluation and search take
//	cells/rate/KEY.json    how fast a row's nets learn, where time is their budget
//	cells/games/KEY.jsonl  the games of two players: a log, see package match
//	cells/puzzles/KEY.json which puzzles a net has solved
//	report.md, report.html, *.svg
//	results.json, results.csv, results.parquet, times.json
//
// A cell that is there is not made again. So a comparison that was killed goes on where
// it was, a row that is added has only its own nets trained and games played, and the
// order of rows does not matter.
//
// # Statistics
//
// A net is rated by its games with those of its seed and the anchors, by package match/rating;
// only White's advantage is one for all seeds. A row's rating is the mean over its seeds. The
// error has two parts. That of games is the spread of the rating when openings are drawn anew
// with replacement; all games from one opening, those of all seeds, are drawn together, since
// what an opening does to a row in every seed does not average out. In each seed it is taken
// to be at least the one by the curvature of the likelihood, which also tells of the error where
// every game was lost. The error of a rating that a ladder
// gives is the same for all seeds and does not fall with their number. That of seeds is the spread
// between the ratings of a row's nets beyond what games explain, taken as equal for all
// rows, since a few seeds do not tell it for each. What a seed does to all rows is no part of
// it in differences, where it cancels, but is in ratings on the scale of anchors and in
// those of anchors on the scale of the rows. Intervals are of 95 % and use Student's t with
// the degrees of freedom of Satterthwaite's approximation. P values of all pairs of rows are corrected by Holm's
// method, which bounds the probability of any false difference in a table by 5 %.
package lab
