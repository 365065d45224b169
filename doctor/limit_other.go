//go:build !unix

package doctor

// fileLimit is not known on this system.
func fileLimit() (uint64, bool) { return 0, false }
