package lab

import (
	"fmt"
	"sync"
	"time"
)

// Progress is how far a comparison has come, with what was there when it began.
type Progress struct {
	Work      string  `json:"work"`       // what is being done: nets, speeds, games nodes, games time, games ladder, puzzles
	Nets      int     `json:"nets"`       // trained
	NetsOf    int     `json:"nets_of"`    //
	Pairs     int     `json:"pairs"`      // of games, played
	PairsOf   int     `json:"pairs_of"`   //
	Puzzled   int     `json:"puzzled"`    // nets that have had the puzzles
	PuzzledOf int     `json:"puzzled_of"` //
	Left      float64 `json:"eta_seconds"`
}

// String is a line for people.
func (p Progress) String() string {
	text := fmt.Sprintf("%s: %d of %d nets trained, %d of %d pairs played", p.Work, p.Nets, p.NetsOf, p.Pairs, p.PairsOf)
	if p.PuzzledOf > 0 {
		text += fmt.Sprintf(", %d of %d nets had the puzzles", p.Puzzled, p.PuzzledOf)
	}
	return text + fmt.Sprintf("; %v left", time.Duration(p.Left*float64(time.Second)).Round(time.Second))
}

// progressPeriod is the time between two reports.
const progressPeriod = 10 * time.Second

// tracker adds up how far a comparison has come and says when it will be over. Work is in
// seconds of one core as a Price foretells them.
type tracker struct {
	o     *Options
	cores map[string]float64 // that share a work, by its name; not named: one
	now   func() time.Time

	mu       sync.Mutex
	at       Progress
	meetings meetings
	shown    time.Time
	ahead    map[string]float64 // work of what has not begun, by its name

	begun       time.Time // of the work in progress
	total, done float64   // of it
	paced       float64   // work that is over
	took        float64   // seconds of cores that it took: of the clock, times the cores that shared it
}

// newTracker returns the tracker of what a price foretells on a machine.
func newTracker(o *Options, price *Price, cores int, now func() time.Time) *tracker {
	jobs := float64(min(o.jobs(), cores))
	t := &tracker{o: o, now: now, begun: now(), shown: now(), ahead: map[string]float64{
		workNets: price.Training.Seconds(), workPuzzles: price.Solving.Seconds(),
	}, cores: map[string]float64{workNets: float64(cores), workPuzzles: jobs}}
	for stage, d := range price.stages {
		t.ahead[stage.work()], t.cores[stage.work()] = d.Seconds(), jobs
	}
	t.at = Progress{
		Nets: price.NetsThere, NetsOf: price.Nets, Pairs: price.pairsThere, PairsOf: price.pairs, Puzzled: price.PuzzlesThere, PuzzledOf: price.Puzzles,
	}
	return t
}

// Names of works; those of games are the stages'.
const (
	workNets    = "nets"
	workSpeeds  = "speeds"
	workPuzzles = "puzzles"
)

func (s Stage) work() string { return "games " + string(s) }

// begin says that some work is being done from now on, so much of it, and that all before is
// over.
func (t *tracker) begin(work string, total float64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	if t.done > 0 {
		t.paced, t.took = t.paced+t.done, t.took+t.sinceBegun(now)
	}
	delete(t.ahead, work)
	t.at.Work, t.begun, t.total, t.done = work, now, total, 0
}

// add counts work that was done, and lets count change the numbers of things.
func (t *tracker) add(work float64, count func(*Progress)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.done += work
	if count != nil {
		count(&t.at)
	}
	t.report(false)
}

// start saves how far the comparison is before anything is done.
func (t *tracker) start() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.at.Left = t.left(t.now())
	t.meetings.save(t.now(), t.at)
}

// skip takes work away that need not be done: a net goes on from a checkpoint.
func (t *tracker) skip(work float64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.total -= work
}

// made counts a cell that was made.
func (t *tracker) made() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.o.OnCell != nil {
		t.o.OnCell()
	}
}

// report reports if it is time to, or always.
func (t *tracker) report(always bool) {
	now := t.now()
	if !always && now.Sub(t.shown) < progressPeriod {
		return
	}
	t.shown = now
	t.at.Left = t.left(now)
	t.meetings.save(now, t.at)
	if t.o.OnProgress != nil {
		t.o.OnProgress(t.at)
		return
	}
	fmt.Fprintln(t.o.Progress, t.at)
}

// end reports once more, at the end of all work.
func (t *tracker) end() {
	t.begin("over", 0)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.report(true)
}

// sinceBegun is how many seconds of cores the work in progress has had.
func (t *tracker) sinceBegun(now time.Time) float64 {
	return t.sharing(t.at.Work) * now.Sub(t.begun).Seconds()
}

func (t *tracker) sharing(work string) float64 { return max(t.cores[work], 1) }

// left is the seconds until all is over. Seconds of cores to one of the price are those of the
// work in progress; at its beginning, and of what has not begun, those of all work so far.
func (t *tracker) left(now time.Time) float64 {
	took := t.sinceBegun(now)
	const known = 1 // second, for which a price is taken to be right
	pace := (t.took + took + known) / (t.paced + t.done + known)
	if t.done == 0 { // nothing seen of it
		pace = (t.took + known) / (t.paced + known)
	}
	early := t.total / 100
	own := pace
	if t.done > 0 {
		own = (took + early*pace) / (t.done + early)
	}
	left := max(t.total-t.done, 0) * own / t.sharing(t.at.Work)
	for work, seconds := range t.ahead {
		left += seconds * pace / t.sharing(work)
	}
	return left
}
