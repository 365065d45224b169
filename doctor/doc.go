// Package doctor checks whether a machine and a cluster are fit for a run. A check finds
// something, compares it with what is expected, and says what to do if that is not so.
package doctor
