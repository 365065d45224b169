package nnue

// Parse reads a whole file without copying it first.
var Parse = parse
