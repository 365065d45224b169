//go:build linux

package chaos

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/crazyhouse-rl/selfplay/internal/durable"
	"github.com/crazyhouse-rl/selfplay/internal/pause"
)

const (
	// ReportFile and ReportText are written into the directory of a run.
	ReportFile = "report.json"
	ReportText = "report.txt"
	faultsFile = "faults.log"

	firstNet    = 5 * time.Minute // until the run publishes a net, before the first fault
	endPatience = 2 * time.Minute // for a role that was asked to end
)

// Report is what a run of a schedule was.
type Report struct {
	Seed     uint64       `json:"seed"`
	Faults   []Outcome    `json:"faults"`
	ByKind   map[Kind]int `json:"by_kind"`
	Seconds  float64      `json:"seconds"`  // of the faults
	Restarts int          `json:"restarts"` // of processes that ended by themselves
	Wiped    int          `json:"wiped"`    // stores of servers that an operator had to remove
	Probed   int          `json:"probed"`   // servers that served no JetStream any more and were started again
	Audit    Audit        `json:"audit"`
	Broken   []Law        `json:"broken,omitempty"`  // laws
	Failure  string       `json:"failure,omitempty"` // why the cluster did not get as far as the audit, or what that found
}

// OK reports whether all was as it has to be.
func (r *Report) OK() bool { return r.Failure == "" }

// Aim returns the laws by which a part of the schedule is known to fail as the whole did, and
// whether Options.Brief is enough for that. Those of what is stored come before those of a
// cluster that got stuck: the latter take long to look at and break by themselves on a busy
// machine.
func (r *Report) Aim() (laws []Law, brief bool) {
	for _, law := range r.Broken {
		if slices.Contains(ofStored, law) {
			laws = append(laws, law)
		}
	}
	if len(laws) > 0 {
		return laws, true
	}
	return r.Broken, false
}

// Breaks reports whether one of the laws does not hold.
func (r *Report) Breaks(laws []Law) bool {
	return slices.ContainsFunc(laws, func(law Law) bool { return slices.Contains(r.Broken, law) })
}

// faultLog records faults as they happen.
type faultLog struct {
	mu   sync.Mutex
	file *os.File
	all  []Outcome
}

func (l *faultLog) add(o Outcome) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, o)
}

func (l *faultLog) line(at time.Duration, format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.file, "%s  +%.2fs  %s\n", time.Now().Format("15:04:05"), at.Seconds(), fmt.Sprintf(format, args...))
}

// Run has a schedule happen to a fresh cluster in the directory of o, heals it and audits
// what is left. The error says what kept the suite itself from working; what it found
// wrong is in the report, which lies in the directory too.
func Run(ctx context.Context, o Options, s Schedule) (*Report, error) {
	c, err := newCluster(o)
	if err != nil {
		return nil, err
	}
	file, err := os.Create(filepath.Join(c.opt.Dir, faultsFile))
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	log := &faultLog{file: file}
	r := &Report{Seed: s.Seed, ByKind: map[Kind]int{}}
	err = c.run(ctx, &s, log, r)
	r.Faults = log.all
	for _, f := range r.Faults {
		r.ByKind[f.Kind]++
	}
	for _, n := range c.all() {
		r.Restarts += n.ended
		r.Wiped += n.wiped
		r.Probed += n.probed
	}
	if err != nil {
		r.Failure = err.Error()
	}
	return r, errors.Join(ctx.Err(), c.close(), file.Close(), r.write(c.opt.Dir))
}

func (c *cluster) run(ctx context.Context, s *Schedule, log *faultLog, r *Report) error {
	if err := c.start(); err != nil {
		return err
	}
	if err := await(ctx, firstNet, "a first net", func() bool { return c.published() > 0 }); err != nil {
		return err
	}
	c.opt.Log.Info("the first net is published, the faults begin", "faults", len(s.Faults), "length", s.Length().Round(time.Second))
	began := time.Now()
	if err := c.play(ctx, s, log); err != nil {
		return err
	}
	r.Seconds = time.Since(began).Seconds()
	published := c.published()
	log.line(time.Since(began), "all faults are over; games finished %d, nets published %d", c.watch.Games(), published)
	c.opt.Log.Info("all faults are over, waiting for calm", "games", c.watch.Games(), "nets", published)
	calm := c.calm(ctx, published)
	if calm != nil {
		r.Broken = append(r.Broken, LawCalm)
	}
	learned := c.published() - published
	ended := c.endAll(ctx)
	if ended != nil {
		r.Broken = append(r.Broken, LawEnded)
	}
	e, err := c.gather()
	if err != nil {
		return errors.Join(calm, ended, err)
	}
	r.Audit = e.audit()
	r.Audit.Published, r.Audit.Learned = c.published(), learned
	laws, _ := r.Audit.Broken()
	r.Broken = append(r.Broken, laws...)
	return errors.Join(calm, ended, r.Audit.OK())
}

// calm waits until all that was finished by now is stored, and another net is published; with
// Options.Brief for neither: what has left a spool is stored, or it is lost.
func (c *cluster) calm(ctx context.Context, published int) error {
	if c.opt.Brief {
		return nil
	}
	left := c.spooled()
	began, wiped := time.Now(), false
	return await(ctx, c.opt.Calm, "calm: finished games stored, and another net", func() bool {
		if !wiped && time.Since(began) > c.opt.Calm/4 && c.published() == published && !c.led() {
			wiped = true // no majority comes back
			for _, name := range servers {
				n := c.nodes[name]
				n.mu.Lock()
				c.wipe(n)
				n.mu.Unlock()
			}
		}
		now := c.spooled()
		return c.published() > published && !slices.ContainsFunc(left, func(id string) bool { return slices.Contains(now, id) })
	})
}

// led reports whether a server says that the cluster has a leader and all it has is up to date.
func (c *cluster) led() bool {
	client := http.Client{Timeout: time.Second}
	for _, p := range c.ports {
		a, err := client.Get(fmt.Sprintf("http://127.0.0.1:%d/healthz", p.monitor))
		if err != nil {
			continue
		}
		a.Body.Close()
		if a.StatusCode == http.StatusOK {
			return true
		}
	}
	return false
}

// spooled returns the games in the spools.
func (c *cluster) spooled() (ids []string) {
	for _, name := range []string{"actor1", "actor2"} {
		paths, _ := filepath.Glob(filepath.Join(c.nodes[name].dir, "spool", "*.game"))
		for _, path := range paths {
			ids = append(ids, strings.TrimSuffix(filepath.Base(path), ".game"))
		}
	}
	return ids
}

// endAll ends all roles in order: actors, which give the buffer what is spooled, then those
// that they depend on. Actors that end with games in their spools are started again.
func (c *cluster) endAll(ctx context.Context) error {
	close(c.done)
	c.group.Wait()
	end := func(names ...string) (err error) {
		for _, name := range names {
			if n := c.nodes[name]; !n.Ended() {
				err = errors.Join(err, n.End(endPatience))
			}
		}
		return err
	}
	err := end("actor1", "actor2")
	for range 5 {
		if c.opt.Brief || len(c.spooled()) == 0 || ctx.Err() != nil {
			break
		}
		for _, name := range []string{"actor1", "actor2"} {
			err = errors.Join(err, c.nodes[name].start())
		}
		pause.For(ctx, 20*time.Second)
		err = errors.Join(err, end("actor1", "actor2"))
	}
	err = errors.Join(err, end("verify", "gate1", "gate2", "trainer", "replay"))
	for _, name := range servers {
		c.nodes[name].Abandon()
	}
	return err
}

func (r *Report) write(dir string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return errors.Join(
		durable.WriteFile(filepath.Join(dir, ReportFile), append(text, '\n')),
		durable.WriteFile(filepath.Join(dir, ReportText), []byte(r.String())))
}

// String gives the figures as tables.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d: %d faults in %.0f s\n\n", r.Seed, len(r.Faults), r.Seconds)
	for _, k := range slices.SortedFunc(maps.Keys(r.ByKind), func(x, y Kind) int { return cmp.Compare(r.ByKind[y], r.ByKind[x]) }) {
		fmt.Fprintf(&b, "%-10s %5d\n", k, r.ByKind[k])
	}
	a := &r.Audit
	fmt.Fprintln(&b)
	for _, f := range []struct {
		what string
		n    int
	}{
		{"games finished", a.Finished}, {"games stored", a.Stored}, {"lost", a.Lost}, {"waiting in a spool", a.Waiting}, {"stored twice", a.Twice}, {"forged games stored", a.Forged},
		{"finished games refused", a.Refused}, {"gone by a flipped bit in the only copy", a.Destroyed}, {"gone by a power cut before they were synced", a.Unpromised},
		{"nets published", a.Published}, {"nets played", a.Nets}, {"nets played unjudged", a.Unjudged}, {"nets published after the last fault", a.Learned},
		{"bits flipped in files of this program", a.Rots}, {"of those in nets and logs that nothing reads any more", a.Cold}, {"of those not told of", a.Untold}, {"processes that ended by themselves", r.Restarts}, {"stores of servers removed, since they did not start", r.Wiped}, {"servers started again, since they served no JetStream", r.Probed},
	} {
		fmt.Fprintf(&b, "%-52s %7d\n", f.what, f.n)
	}
	if r.Failure != "" {
		fmt.Fprintf(&b, "\nFAILED: %s\n", r.Failure)
	} else {
		fmt.Fprintln(&b, "\nall is as it has to be")
	}
	return b.String()
}
