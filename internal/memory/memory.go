// Package memory says how much memory there is, and gives hints about memory that is
// read at random: to the processor, what is read soon, and to the operating system, what
// should lie in large pages. Hints change no result; where they are not understood they do
// nothing.
package memory
