//go:build !invariants

// Package invariants says whether the program was built to check itself. With
// the build tag invariants, code that keeps a result up to date compares it
// with the same result computed from nothing, and panics where they differ.
package invariants

// Enabled is true with the build tag invariants.
const Enabled = false
