// Package soak watches a run for hours: it samples what a process holds and what lies in
// its directory, writes the samples as CSV, draws them, and says what grows.
package soak
