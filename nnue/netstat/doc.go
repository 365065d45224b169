// Package netstat measures networks: the ranges of their parameters, sums that
// could overflow, neurons that do nothing, what rounding to integers costs, and
// what the features mean on the board. It also counts how mobile pieces are, from
// which a feature set takes its ranges.
package netstat
