// Command load measures how many games one server and one replay role take from many
// actors. It sends games of a real run again, under new ids, as real actors send
// theirs: each with a name, a key and a connection of its own, in bundles, asking
// which games are on disk and keeping every game until it is. At the end it reads the
// buffer and tells whether each game is there once.
//
// Server and replay role are processes of their own on this machine, the replay role
// the same code as selfplay replay; the server syncs every message. Each case is done
// twice: first without a replay role, which shows what the stream alone takes.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

type options struct {
	actors      counts
	bundles     counts
	from        string
	games       int
	rate        float64
	inFlight    int
	connections int
	pause       time.Duration
	length      time.Duration
	warm        time.Duration
	drain       time.Duration
	noRaw       bool
	onlyRaw     bool
	json        string
	keep        string
	profile     string
}

// counts is a flag with numbers above 0, joined by commas.
type counts []int

func (c *counts) String() string {
	var s []string
	for _, n := range *c {
		s = append(s, strconv.Itoa(n))
	}
	return strings.Join(s, ",")
}

// Set reads the numbers.
func (c *counts) Set(text string) error {
	*c = nil
	for _, t := range strings.Split(text, ",") {
		n, err := strconv.Atoi(t)
		if err != nil || n < 1 || n > 100_000 {
			return fmt.Errorf("found %q, expected numbers from 1 to 100000, joined by commas", t)
		}
		*c = append(*c, n)
	}
	return nil
}

func parse(args []string, out io.Writer) (options, error) {
	o := options{actors: counts{1000}, bundles: counts{64}}
	f := flag.NewFlagSet("load", flag.ContinueOnError)
	f.SetOutput(out)
	f.Usage = func() {
		fmt.Fprintln(out, "Measures how many games one server and one replay role take from many actors.")
		fmt.Fprintln(out, "\n  go run ./scripts/load --games-from RUNDIR --actors 100,300,1000 --bundle 1,8,64 --for 60s\n\nFlags:")
		f.PrintDefaults()
	}
	f.Var(&o.actors, "actors", "`numbers` of actors, a case each")
	f.Var(&o.bundles, "bundle", "`numbers` of games in a message at most, a case each")
	f.StringVar(&o.from, "games-from", "", "`directory` of the run whose games are sent again; needed")
	f.IntVar(&o.games, "games", 100_000, "games made beforehand for all actors together; a case ends when one actor has no more")
	f.Float64Var(&o.rate, "rate", 0, "games a second that all actors finish together, at random times; 0: as many as their spools take")
	f.IntVar(&o.inFlight, "in-flight", 20_000, "games of all actors together that are not on disk, at most; an actor has room for one message at least")
	f.IntVar(&o.connections, "connections", 0, "connections that the actors share; 0: one each")
	f.DurationVar(&o.pause, "pause", time.Second, "time between two messages of an actor that are not full")
	f.DurationVar(&o.length, "for", 60*time.Second, "time that counts, of each case, at most")
	f.DurationVar(&o.warm, "warm", 5*time.Second, "time before that")
	f.DurationVar(&o.drain, "drain", 2*time.Minute, "time after that until everything has to be on disk")
	f.BoolVar(&o.noRaw, "no-raw", false, "leave out the cases without a replay role")
	f.BoolVar(&o.onlyRaw, "only-raw", false, "leave out the cases with a replay role")
	f.StringVar(&o.json, "json", "", "write the results to this `file`, a JSON object a line")
	f.StringVar(&o.keep, "keep", "", "keep stores, buffers and logs in this `directory`; default: a temporary one, removed at the end")
	f.StringVar(&o.profile, "profile", "", "write CPU profiles of server and replay role to this `directory`")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	switch {
	case f.NArg() > 0:
		return o, fmt.Errorf("found argument %q, expected none", f.Arg(0))
	case o.from == "":
		return o, errors.New("--games-from: found nothing, expected the directory of a run (selfplay --preset laptop --games 500 --dir DIR makes one)")
	case !(o.rate >= 0) || math.IsInf(o.rate, 0): // NaN is not below 0
		return o, fmt.Errorf("--rate: found %v, expected a number of 0 or more", o.rate)
	case o.games < 1 || o.inFlight < 1 || o.connections < 0 || o.length <= 0 || o.warm < 0 || o.pause < 0:
		return o, errors.New("found a negative number, or none of what is needed: expected --games, --in-flight and --for above 0, and no other below")
	case o.noRaw && o.onlyRaw:
		return o, errors.New("found --no-raw and --only-raw, expected one of them at most")
	}
	return o, nil
}

// failure ends the program with what went wrong.
func failure(err error) {
	fmt.Fprintln(os.Stderr, "load:", err)
	os.Exit(1)
}

func main() {
	if role := os.Getenv(roleVariable); role != "" {
		if err := runRole(role, os.Args[1:]); err != nil {
			failure(err)
		}
		return
	}
	o, err := parse(os.Args[1:], os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		failure(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	results, err := load(ctx, o, os.Stderr)
	if len(results) > 0 {
		fmt.Print(table(results))
	}
	if err != nil {
		failure(err)
	}
	for _, r := range results {
		if !r.sound() {
			failure(fmt.Errorf("%d actors, bundles of %d: not every game is stored once: %d waiting, %d lost, %d twice, %d of nobody",
				r.Actors, r.Bundle, r.Waiting, r.Lost, r.Twice, r.Alien))
		}
	}
}

// load runs all cases.
func load(ctx context.Context, o options, progress io.Writer) (results []*result, err error) {
	sources, plies, err := readSources(o.from)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(progress, "%d games with %.1f positions each from %s\n", len(sources), float64(plies)/float64(len(sources)), o.from)
	dir := o.keep
	if dir == "" {
		if dir, err = os.MkdirTemp("", "load"); err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
	}
	if o.profile != "" {
		if err := os.MkdirAll(o.profile, 0o755); err != nil {
			return nil, err
		}
	}
	for _, actors := range o.actors {
		began := time.Now()
		shares, err := makeShares(runID, actors, (o.games+actors-1)/actors, sources)
		if err != nil {
			return results, err
		}
		fmt.Fprintf(progress, "%d games made for %d actors in %.1f s\n", len(shares)*len(shares[0].games), actors, time.Since(began).Seconds())
		for _, bundle := range o.bundles {
			for _, raw := range []bool{true, false} {
				if raw && o.noRaw || !raw && o.onlyRaw {
					continue
				}
				c := &caseOptions{
					actors: actors, connections: min(o.connections, actors), bundle: bundle, pause: o.pause, rate: o.rate,
					spool: max(bundle, o.inFlight/actors), raw: raw, warm: o.warm, length: o.length, drain: o.drain, profile: o.profile,
				}
				fmt.Fprintf(progress, "%d actors, bundles of %d, %s\n", actors, bundle, with(raw))
				r, err := runCase(ctx, filepath.Join(dir, fmt.Sprintf("%d-%d-%v", actors, bundle, raw)), c, shares, progress)
				if err != nil {
					return results, err
				}
				results = append(results, r)
				if err := r.write(o.json); err != nil {
					return results, err
				}
				fmt.Fprint(progress, r)
			}
		}
	}
	return results, nil
}

func with(raw bool) string {
	if raw {
		return "no replay role"
	}
	return "with the replay role"
}

// write appends the result to the file of the given name, if there is one.
func (r *result) write(path string) error {
	if path == "" {
		return nil
	}
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}
