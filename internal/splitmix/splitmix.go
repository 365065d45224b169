// Package splitmix is Steele's, Lea's and Flood's SplitMix64: a generator of
// random numbers whose state is one number, and the hash function within it.
// The numbers are the same in every version and on every machine.
package splitmix

// gamma is the odd number nearest to 2^64 divided by the golden ratio.
const gamma = 0x9e3779b97f4a7c15

// Source is a generator. Its value is its state; any is a good seed. It is a
// math/rand/v2.Source.
type Source uint64

// Uint64 returns the next number.
func (s *Source) Uint64() uint64 {
	*s += gamma
	return Mix(uint64(*s))
}

// Hash returns the first number of a Source with the state x: distinct for
// distinct x, and unrelated for neighbours.
func Hash(x uint64) uint64 { return Mix(x + gamma) }

// Mix is the finaliser of SplitMix64, a bijection by which every bit of z changes
// about half of the result's. Mix(0) is 0.
func Mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
