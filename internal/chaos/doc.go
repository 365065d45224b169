// Package chaos runs a small cluster of this program's processes on one machine, does to
// it what a schedule of faults says, heals it, and audits what is left: every finished
// game is stored once, no net is played that no gate has passed, every damage was told by
// a sentence, and the run still learns. A schedule follows from its seed alone, and one
// that fails is shrunk to the shortest that still does.
//
// Linux only: the disk and the clock that fail are those of package fault.
package chaos
