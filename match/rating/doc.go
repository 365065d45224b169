// Package rating holds the arithmetic of engine matches as pure functions:
// Elo and normalised Elo with their intervals, likelihood of superiority, and
// the generalised sequential probability ratio test (GSPRT) in its exact
// logistic and normalised forms. A [Pool] rates any number of players together.
//
// Two kinds of counts feed it. A [Trinomial] counts single games. A
// [Pentanomial] counts pairs of games that two players played from the same
// opening with colours swapped; the two games of a pair are correlated through
// the opening, so figures and decisions come of pairs. Every figure is seen from the
// first player: a positive Elo means the first player is the stronger one.
//
// Symbols used in the comments: an outcome i has the score a_i in [0,1] and
// the count n_i, N = Σ n_i, p_i = n_i/N, mean μ = Σ a_i·p_i, variance
// v = Σ p_i·(a_i−μ)². Before any estimate an empty cell is given the count
// 10⁻³, as fishtest, fastchess and OpenBench do; without it an outcome that
// was not seen yet would be taken for impossible.
package rating
