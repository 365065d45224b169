package nnue

// Parse reads a whole file without copying it first.
var Parse = parse

// OwnVersion is the version of our own file format that Write writes.
const OwnVersion = ownVersion
