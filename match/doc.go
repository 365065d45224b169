// Package match plays players against each other and says which is stronger.
// [Run] plays a match of two players or a tournament of more; [Gate] turns a
// match of two into a yes or no.
//
// The unit is the pair: one opening played twice by two players, with colours
// swapped. Pair k is a function of seed, players, format and openings alone, so
// pairs may be played in any order, on any number of goroutines, today and
// after a restart. What is measured never depends on that order: pairs are
// counted from 0 upward without gaps, whatever encounters they belong to, and a
// sequential test is asked after each of them. Pairs that were still running when
// it decided are finished and reported, but apart.
//
// Pairs may be played elsewhere: [Config.PlayPair] is given each as a [Task], which
// a [Duel] plays on any machine that has the two players.
//
// The state of a match is its log, one line of JSON per finished pair. All
// sums are made from it, and a match goes on where its log ends. [ReadLog]
// reads the log of any match.
package match
