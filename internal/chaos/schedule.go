//go:build linux

package chaos

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/crazyhouse-rl/selfplay/internal/durable"
)

// Kind is what happens.
type Kind string

// Kinds of faults. Those with a duration end by themselves; a process that ends, by a fault
// or by itself, is started again after a moment, as a supervisor does.
const (
	Kill      Kind = "kill"      // signal 9
	Stop      Kind = "stop"      // signal STOP, and CONT after the duration
	Power     Kind = "power"     // killed, and what was not synced is gone; target "servers": all at once
	Cut       Kind = "cut"       // the link carries nothing, new connections neither
	Delay     Kind = "delay"     // the link carries everything late
	Duplicate Kind = "duplicate" // the link carries messages twice
	Reorder   Kind = "reorder"   // the link carries messages in another order
	Corrupt   Kind = "corrupt"   // the link flips bits in messages
	DiskFull  Kind = "full"      // the process's files cannot grow
	ReadOnly  Kind = "readonly"  // the process's files cannot change
	SyncFail  Kind = "syncfail"  // the process's syncs fail
	Clock     Kind = "clock"     // the process's wall clock is wrong
	Rot       Kind = "rot"       // a bit of one of the process's files is flipped
	Hostile   Kind = "hostile"   // somebody with an actor's rights misbehaves
)

// Fault is one of a schedule.
type Fault struct {
	At     Duration `json:"at"` // after the first moment of calm
	Kind   Kind     `json:"kind"`
	Target string   `json:"target"`        // a process, a link "from>to", or what a hostile actor does
	For    Duration `json:"for,omitempty"` // 0: a moment
	Seed   uint64   `json:"seed"`          // of the choices that are made when it happens
}

// Duration is a time.Duration that reads as 1.5s.
type Duration time.Duration

// MarshalText returns it as time.Duration prints it.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText parses it. The error says what is wrong.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	*d = Duration(v)
	return err
}

// String says what happens to whom.
func (f Fault) String() string {
	s := fmt.Sprintf("%s %s", f.Kind, f.Target)
	if f.For > 0 {
		s += " for " + time.Duration(f.For).String()
	}
	return s
}

// Schedule are faults in the order of their times.
type Schedule struct {
	Seed   uint64  `json:"seed"` // of Draw
	Faults []Fault `json:"faults"`
}

// Names of the processes of every cluster.
var (
	servers = []string{"n1", "n2", "n3"}
	roles   = []string{"actor1", "actor2", "replay", "trainer", "gate1", "gate2", "verify"}
)

const allServers = "servers" // target of a power cut

// hostilities are what a hostile actor does.
var hostilities = []string{"garbage", "oversize", "unsigned", "stolen-name", "another-key", "truncated", "flood", "replayed", "questions"}

// weights say how often each kind comes.
var weights = []struct {
	kind   Kind
	weight int
}{
	{Kill, 22}, {Stop, 7}, {Power, 9}, {Cut, 11}, {Delay, 6}, {Duplicate, 6}, {Reorder, 5}, {Corrupt, 5},
	{DiskFull, 5}, {ReadOnly, 4}, {SyncFail, 5}, {Clock, 5}, {Rot, 6}, {Hostile, 9},
}

// Draw returns the schedule of n faults that follows from the seed, every on the average
// after the one before.
func Draw(seed uint64, n int, every time.Duration) Schedule {
	rng := rand.New(rand.NewPCG(seed, 0x63616f73))
	s := Schedule{Seed: seed, Faults: make([]Fault, 0, n)}
	total := 0
	for _, w := range weights {
		total += w.weight
	}
	var at time.Duration
	for range n {
		at += time.Duration(rng.ExpFloat64() * float64(every)).Round(time.Millisecond)
		f := Fault{At: Duration(at), Seed: rng.Uint64()}
		pick := rng.IntN(total)
		for _, w := range weights {
			if pick -= w.weight; pick < 0 {
				f.Kind = w.kind
				break
			}
		}
		f.Target, f.For = target(rng, f.Kind), Duration(duration(rng, f.Kind))
		s.Faults = append(s.Faults, f)
	}
	return s
}

func one(rng *rand.Rand, list []string) string { return list[rng.IntN(len(list))] }

func target(rng *rand.Rand, k Kind) string {
	switch k {
	case Hostile:
		return one(rng, hostilities)
	case Cut, Delay, Duplicate, Reorder, Corrupt:
		if k == Cut && rng.IntN(3) == 0 { // two servers that do not see each other
			i := rng.IntN(len(servers))
			return link(servers[i], servers[(i+1+rng.IntN(2))%3])
		}
		if k == Cut && rng.IntN(3) == 0 {
			return link("*", one(rng, append(slices.Clone(servers), roles...))) // from all others
		}
		return link(one(rng, roles), one(rng, servers))
	case Power:
		if rng.IntN(6) == 0 {
			return allServers
		}
	}
	if rng.IntN(10) < 3 {
		return one(rng, servers)
	}
	return one(rng, roles)
}

func link(from, to string) string { return from + ">" + to }

func duration(rng *rand.Rand, k Kind) time.Duration {
	between := func(low, high time.Duration) time.Duration {
		return (low + time.Duration(rng.Int64N(int64(high-low)))).Round(time.Millisecond)
	}
	switch k {
	case Stop:
		if rng.IntN(12) == 0 {
			return between(time.Minute, 2*time.Minute)
		}
		return between(time.Second, 25*time.Second) // the leases of roles last 10 s
	case Cut, Delay, Duplicate, Reorder, Corrupt:
		return between(500*time.Millisecond, 20*time.Second)
	case DiskFull, ReadOnly, SyncFail:
		return between(500*time.Millisecond, 10*time.Second)
	case Clock:
		return between(5*time.Second, 30*time.Second)
	}
	return 0
}

// Length is how long the schedule takes until all its faults are over.
func (s *Schedule) Length() (end time.Duration) {
	for _, f := range s.Faults {
		end = max(end, time.Duration(f.At+f.For))
	}
	return end
}

// check says what is wrong with a schedule that somebody gave.
func (s *Schedule) check() error {
	names := append(slices.Clone(servers), roles...)
	for i, f := range s.Faults {
		ok := false
		from, to, isLink := strings.Cut(f.Target, ">")
		switch f.Kind {
		case Hostile:
			ok = slices.Contains(hostilities, f.Target)
		case Cut:
			ok = isLink && slices.Contains(names, to) && (from == "*" || slices.Contains(names, from))
		case Delay, Duplicate, Reorder, Corrupt:
			ok = isLink && slices.Contains(servers, to) && slices.Contains(roles, from)
		case Power:
			ok = f.Target == allServers || slices.Contains(names, f.Target)
		case Kill, Stop, DiskFull, ReadOnly, SyncFail, Clock, Rot:
			ok = slices.Contains(names, f.Target)
		}
		if !ok || f.At < 0 || f.For < 0 {
			return fmt.Errorf("fault %d: found %q of %q at %v for %v, expected a kind and a target of this build", i+1, f.Kind, f.Target, time.Duration(f.At), time.Duration(f.For))
		}
	}
	if !slices.IsSortedFunc(s.Faults, func(a, b Fault) int { return int(a.At - b.At) }) {
		return fmt.Errorf("found faults that are not in the order of their times")
	}
	return nil
}

// ReadSchedule reads a schedule from a file. The error names the file and the fault.
func ReadSchedule(path string) (Schedule, error) {
	var s Schedule
	text, err := os.ReadFile(path)
	if err != nil {
		return s, err
	}
	if err = json.Unmarshal(text, &s); err == nil {
		err = s.check()
	}
	if err != nil {
		return s, fmt.Errorf("schedule %s: %w", path, err)
	}
	return s, nil
}

// Write writes the schedule to a file.
func (s *Schedule) Write(path string) error {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return durable.WriteFile(path, append(text, '\n'))
}
