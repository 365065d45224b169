package match

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/crazyhouse-rl/selfplay/game"
)

// Run plays a match, or what is missing of it if there is a log, and returns
// what it has shown. A player that fails (an error, an illegal move, no answer
// in time) loses that game and is made anew for the next, unless FailureEnds is set.
//
// Pairs count in the order of their numbers: a pair does once all before it have
// finished, and the sequential test is asked after each. So the result depends on
// neither the number of pairs played at a time nor the order they finish in. No pair
// is begun once the test has decided; those that were running then are in the log,
// but do not count.
//
// With an error there is a result too, of the pairs finished before it. Errors:
// [ErrConfig] and [rating.ErrSPRT] for settings, [ErrOtherSchedule], [ErrBadLog] and [ErrLogInUse] for the log, [ErrNoPlayer]
// if a player cannot be made, [ErrCannotBegin] if it cannot be given an opening,
// [game.ErrOpening] or what else Openings return, the context's error if the match was
// stopped, and those of writing log and PGN.
func Run(ctx context.Context, cfg Config) (Result, error) {
	if err := cfg.validate(); err != nil {
		return Result{}, err
	}
	s := cfg.schedule()
	if cfg.RunID == "" {
		cfg.RunID = s.hash()
	}
	records, pairs, err := openRecords(cfg.Log, cfg.PGN, cfg.RunID, s)
	if err != nil {
		return Result{}, err
	}
	records.build = cfg.Build
	m := &run{
		cfg: &cfg, encounters: cfg.encounters(), records: records,
		idle: newIdleInstances(&cfg), done: make(map[int]bool),
	}
	m.tally = newTally(&cfg, m.encounters)
	err = m.resume(pairs)
	if err == nil {
		if cfg.OnResume != nil && len(m.done) > 0 {
			cfg.OnResume(m.tally.snapshot())
		}
		err = m.play(ctx)
	}
	return m.tally.snapshot(), errors.Join(err, records.close())
}

// run is a match being played.
type run struct {
	cfg        *Config
	encounters [][2]int
	idle       *idleInstances

	mu      sync.Mutex // guards all below, and the calls of cfg's functions
	records *records
	tally   *tally
	done    map[int]bool // pairs of the log
	next    int          // no pair from here on has been handed out
	settle  func()       // ends what PlayPair is doing
}

// pairs is the number of pairs to play in all.
func (m *run) pairs() int { return m.cfg.rounds() * len(m.encounters) }

// resume counts the pairs of the log.
func (m *run) resume(pairs []Pair) error {
	for i, p := range pairs {
		_, encounter := place(p.Number, len(m.encounters))
		if p.Players != m.encounters[encounter] {
			return fmt.Errorf("%w: pair %d is of players %v, expected %v", ErrBadLog, p.Number, p.Players, m.encounters[encounter])
		}
		if p.Number >= m.pairs() {
			continue // of a longer match
		}
		if i == 0 { // one opening shows whether the generator is the same
			if _, text, err := m.opening(p.Number); err != nil {
				return err
			} else if p.Opening != text {
				return fmt.Errorf("%w: pair %d began with %q, expected %q", ErrOtherSchedule, p.Number, p.Opening, text)
			}
		}
		m.done[p.Number] = true
		m.tally.add(p)
	}
	return nil
}

// opening returns the opening of a pair, and its text for the record.
func (m *run) opening(pair int) (game.Opening, string, error) {
	round, _ := place(pair, len(m.encounters))
	o, err := m.cfg.Openings.Opening(round)
	if err != nil {
		return o, "", fmt.Errorf("match: opening of pair %d: %w", pair, err)
	}
	text, err := OpeningText(o)
	if err != nil {
		return o, "", fmt.Errorf("match: opening of pair %d: %w", pair, err)
	}
	return o, text, nil
}

// play plays the missing pairs, several at a time.
func (m *run) play(ctx context.Context) error {
	missing := m.pairs() - len(m.done)
	if m.tally.decided() || missing == 0 {
		return nil
	}
	group, ctx := errgroup.WithContext(ctx)
	play := m.playHere
	if m.cfg.PlayPair != nil {
		ctx, m.settle = context.WithCancel(ctx)
		defer m.settle()
		play = m.playElsewhere
	} else {
		defer m.idle.close()
		if err := m.idle.fill(m.wanted()); err != nil {
			return err
		}
	}
	for range min(max(m.cfg.Concurrency, 1), missing) {
		group.Go(func() error { return m.work(ctx, play) })
	}
	return group.Wait()
}

// wanted says of every player whether it has pairs to play.
func (m *run) wanted() []bool {
	wanted := make([]bool, len(m.cfg.Players))
	for number := range m.pairs() {
		if !m.done[number] {
			_, e := place(number, len(m.encounters))
			wanted[m.encounters[e][0]], wanted[m.encounters[e][1]] = true, true
		}
	}
	return wanted
}

// work plays pairs until there are none left.
func (m *run) work(ctx context.Context, play func(context.Context, Task) (Played, error)) error {
	for {
		number, ok := m.take()
		if !ok {
			return nil
		}
		began := time.Now()
		task, err := m.task(number)
		if err != nil {
			return err
		}
		played, err := play(ctx, task)
		if errors.Is(err, errSettled) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := m.record(&played, began); err != nil {
			return err
		}
	}
}

// task describes a pair to be played.
func (m *run) task(number int) (Task, error) {
	opening, _, err := m.opening(number)
	if err != nil {
		return Task{}, err
	}
	_, e := place(number, len(m.encounters))
	t := Task{
		Number: number, Players: m.encounters[e], Opening: opening,
		Game: m.cfg.Game, Seed: m.cfg.Seed, MoveTimeout: m.cfg.MoveTimeout, Build: m.cfg.Build,
	}
	t.Game.KeepPV = m.cfg.PGNOptions.PV
	return t, nil
}

// playHere plays a pair with players that are idle, or new ones.
func (m *run) playHere(ctx context.Context, t Task) (Played, error) {
	var sides [2]*instance
	for side, player := range t.Players {
		sides[side] = m.idle.take(player)
		defer m.idle.give(sides[side])
	}
	played, err := playTask(ctx, &t, sides, m.announce)
	if err == nil && m.cfg.FailureEnds {
		err = m.failure(&played)
	}
	return played, err
}

// FailureError says which player of a match failed, where and how.
type FailureError struct {
	Player     string // name
	Pair, Game int    // number of the pair from 0, and 0 or 1
	Plies      int    // half-moves of the game, its opening not counted
	Failure    string
}

func (e *FailureError) Error() string {
	return fmt.Sprintf("match: %s failed in game %d of pair %d after %d plies: %s", e.Player, e.Game+1, e.Pair+1, e.Plies, e.Failure)
}

// failure returns the first failure in a pair, as an error, but for an overstepped clock.
func (m *run) failure(p *Played) error {
	for i := range p.Pair.Games {
		g := &p.Pair.Games[i]
		if g.Failed == "" || g.Error == errClock.Error() {
			continue
		}
		side := 0
		if g.Failed == "B" {
			side = 1
		}
		return &FailureError{m.cfg.Players[p.Pair.Players[side]].Name, p.Pair.Number, i, g.Plies, g.Error}
	}
	return nil
}

// errSettled is the end of a pair that was being played elsewhere when the test decided.
var errSettled = errors.New("match: decided")

// playElsewhere has PlayPair play a pair.
func (m *run) playElsewhere(ctx context.Context, t Task) (Played, error) {
	played, err := m.cfg.PlayPair(ctx, t)
	switch {
	case err != nil && m.decided():
		return Played{}, errSettled
	case err != nil:
		return Played{}, err
	case m.cfg.PGN != "" && played.Games[0] == nil:
		return Played{}, fmt.Errorf("%w: pair %d came back without its games, which the PGN needs", ErrConfig, t.Number)
	}
	return played, t.Check(&played.Pair)
}

func (m *run) decided() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.tally.decided()
}

// take hands out the next pair to play.
func (m *run) take() (number int, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.next < m.pairs() && m.done[m.next] {
		m.next++
	}
	if m.next >= m.pairs() || m.tally.decided() {
		return 0, false
	}
	m.next++
	return m.next - 1, true
}

// record makes a finished pair durable, then counts and announces it. The pair was
// taken up at began.
func (m *run) record(p *Played, began time.Time) error {
	pgn, err := m.encodePGN(&p.Pair, p.Games)
	if err != nil {
		return err
	}
	spent := Timing{Pairs: 1, Playing: time.Since(began), Searching: p.Searching}
	m.mu.Lock()
	defer m.mu.Unlock()
	began = time.Now()
	if err := m.records.append(p.Pair, pgn); err != nil {
		return err
	}
	m.tally.add(p.Pair)
	if m.settle != nil && m.tally.decided() {
		m.settle()
	}
	spent.Playing += time.Since(began)
	m.tally.result.Timing.add(spent)
	if m.cfg.OnPair != nil {
		m.cfg.OnPair(p.Pair, p.Games, m.tally.snapshot())
	}
	return nil
}

// announce calls OnGame with a game that begins or has ended.
func (m *run) announce(e GameEvent) {
	if m.cfg.OnGame == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cfg.OnGame(e)
}

// encodePGN returns the two games of a pair as they go into the PGN file;
// nothing if there is none.
func (m *run) encodePGN(p *Pair, games [2]*game.Game) ([]byte, error) {
	if m.cfg.PGN == "" {
		return nil, nil
	}
	opening, _, err := m.opening(p.Number)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	for i, g := range games {
		if err := m.cfg.PGNOptions.Write(&text, g, m.tags(p, i, opening.ID)); err != nil {
			return nil, fmt.Errorf("match: PGN: %w", err)
		}
	}
	return text.Bytes(), nil
}
