//go:build invariants

package invariants

// Enabled is true with the build tag invariants.
const Enabled = true
