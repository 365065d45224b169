package selfplay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/nets"
)

// Quarantine takes the games of an actor out of the training window and has its later
// ones refused, or with release takes that back. Of a run on cfg's servers the replay
// role does it, which must be working; of one in dir, which must be stopped, it is done
// here. The role reads all stored games again before it answers; until then it is asked
// again, for as long as Options.Patience. Games is how many stored games that changes, -1
// if that is not known: a role of an earlier build does not say. By says who wants it, why
// the reason. The error wraps ErrNoActor for what is no name of one, bus.ErrNobody if no
// replay role works, bus.ErrUnavailable if none answers: it may do it yet.
func Quarantine(ctx context.Context, dir string, cfg configs.Config, o Options, actor, by, why string, release bool) (games int64, err error) {
	if err := checkActorName(actor); err != nil {
		return 0, err
	}
	choice, err := ChooseNet(ctx, dir, cfg, o)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, choice.Close()) }()
	r := choice.run
	if r.cfg.Bus.URL == "" {
		return r.quarantineHere(ctx, actor, by, why, release)
	}
	service := excludeService
	if release {
		service = includeService
	}
	request := &excludeRequest{Schema: messageSchema, Actor: actor, Why: why, By: by}
	var text []byte
	asked := 0
	err = r.forAWhile(ctx, func(ctx context.Context) (err error) {
		asked++
		text, err = r.askReplay(ctx, service, request)
		return err
	})
	if errors.Is(err, bus.ErrUnavailable) {
		err = fmt.Errorf("%w: found no answer of the replay role, which may do it yet: selfplay audit says when it has", err)
	}
	if err != nil || len(text) == 0 { // as earlier builds answer
		return -1, err
	}
	var answer excludeAnswer
	err = decodeMessage(text, &answer)
	if asked > 1 && answer.Games == 0 { // done for a request whose answer came too late
		return -1, err
	}
	return answer.Games, err
}

// askReplay asks the replay role what an operator wants of it.
func (r *Run) askReplay(ctx context.Context, service string, m message) ([]byte, error) {
	text, err := r.bus.Ask(ctx, service, encodeMessage(m))
	if errors.Is(err, bus.ErrNobody) {
		err = fmt.Errorf("%w: no replay role of this run works, or it is of an earlier build", err)
	}
	return text, err
}

// ErrNoActor says that a text is not the name of an actor.
var ErrNoActor = errors.New("no name of an actor")

func checkActorName(name string) error {
	if !actorName.MatchString(name) {
		return fmt.Errorf("%w: found %.40q, expected 1 to 24 of a-z and 0-9", ErrNoActor, name)
	}
	return nil
}

// quarantineHere changes the buffer of a run that is stopped.
func (r *Run) quarantineHere(ctx context.Context, actor, by, why string, release bool) (games int64, err error) {
	if r.variant, err = chess.ParseVariant(r.cfg.Variant); err != nil {
		return 0, err
	}
	buffer, err := openBuffer(r)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, buffer.Close()) }()
	games, changed, err := setExcluded(buffer, actor, why, release)
	if err != nil || !changed {
		return 0, err
	}
	action := auditQuarantine
	if release {
		action = auditRelease
	}
	return games, r.bus.Audit(ctx, bus.AuditEntry{By: by, Action: action, What: actor, Why: why})
}

// Audit returns who did what to a run, oldest first: nets published, promoted, rolled
// back to and withdrawn, actors quarantined and released, settings changed. Changes of
// nets before the newest 64 are there as far as people made them. The run is chosen as
// ChooseNet does.
func Audit(ctx context.Context, dir string, cfg configs.Config, o Options) (all []bus.AuditEntry, err error) {
	choice, err := ChooseNet(ctx, dir, cfg, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, choice.Close()) }()
	if all, err = choice.run.bus.AuditLog(ctx); err != nil {
		return nil, err
	}
	changes, err := choice.History(ctx)
	if err != nil {
		return nil, err
	}
	written := map[string]bool{} // what people did is in both
	for _, e := range all {
		written[e.Action+e.By+e.What+e.Why] = true
	}
	for _, c := range changes {
		e := netEntry(c.Record)
		e.Time = c.Time.UTC()
		if c.Error != "" {
			e.Why = c.Error
		}
		if !written[e.Action+e.By+e.What+e.Why] {
			all = append(all, e)
		}
	}
	slices.SortStableFunc(all, func(x, y bus.AuditEntry) int { return cmp.Compare(x.Time.UnixNano(), y.Time.UnixNano()) })
	return all, nil
}

// netEntry is a change of the net that the run plays with.
func netEntry(r nets.Record) bus.AuditEntry {
	what := "no net"
	if r.Net != "" {
		what = fmt.Sprintf("net %s, generation %d", short(r.Net), r.Generation)
	}
	return bus.AuditEntry{Schema: bus.AuditSchema, By: r.By, Action: r.Action, What: what, Why: r.Why}
}

// auditChange writes into the audit which settings have changed.
func (r *Run) auditChange(ctx context.Context, before, after string) {
	was, err := configs.WithShared(r.cfg, []byte(before), "settings before")
	is, e := configs.WithShared(r.cfg, []byte(after), "settings now")
	why := strings.Join(configs.SharedDifferences(was, is), ", ")
	if err = errors.Join(err, e); err != nil { // of another build
		why = err.Error()
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	entry := bus.AuditEntry{By: "trainer@" + hostname(), Action: auditSettings, What: "run " + r.identity.Name, Why: why}
	if err := r.bus.Audit(ctx, entry); err != nil {
		r.log.Warn("not written into the audit", "action", entry.Action, "error", err)
	}
}
