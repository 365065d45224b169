// Package fault makes the disk and the clock of a process fail. A program that is built
// with its [Overlay] asks a control page before every change of a file, writes a journal
// of all changes, and reads a clock that may be wrong. The program's own source has
// nothing of this, and neither has any other build of it: what is replaced are functions
// of Go's packages os and time, so that NATS servers fail in the same ways.
package fault
