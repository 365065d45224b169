package selfplay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/replay"
)

// Overview is what a server knows of a run: who is there and what waits for whom.
type Overview struct {
	Time      time.Time         `json:"time"` // when the stream was looked at, or the newest member was
	Run       bus.RunRecord     `json:"run"`
	Members   []bus.Member      `json:"members"`             // by role, then by name
	Leases    []bus.LeaseRecord `json:"leases"`              // of the roles that one process at a time has
	Stream    bus.Stats         `json:"stream"`              // of games
	Current   *nets.Record      `json:"current"`             // nil before the first net
	Offered   *nets.Record      `json:"offered"`             // the newest candidate
	CurrentAt time.Time         `json:"current_at,omitzero"` // when the server got Current; zero: not known
	OfferedAt time.Time         `json:"offered_at,omitzero"` // when the server got Offered
	Refused   []Refusal         `json:"refused"`             // the newest of the quarantined games, newest first
	Local     bool              `json:"local,omitempty"`     // it is what a directory tells; nothing is known of the stream
	Gone      []string          `json:"gone,omitempty"`      // sentences about processes that ended without a word or left games, of a directory
	// Findings are sentences about what stands still, and why; none if all is well.
	Findings []string `json:"findings"`
}

// Refusal says why the replay role has put a game into quarantine.
type Refusal struct {
	Time   time.Time `json:"time"`
	Actor  string    `json:"actor"` // that the game's id names; "" if it cannot be read
	Reason string    `json:"reason"`
}

const shownRefusals = 3 // of an overview

// refusals returns the newest of the quarantined games.
func (r *Run) refusals(ctx context.Context) ([]Refusal, error) {
	games, err := r.bus.Rejects(ctx, shownRefusals)
	var list []Refusal
	for _, g := range games {
		f := Refusal{Time: g.Time, Reason: g.Reason}
		if h, err := game.DecodeHeader(g.Data); err == nil {
			f.Actor = replay.ActorOf(h.ID, r.id())
		}
		list = append(list, f)
	}
	return list, err
}

// ReadOverview asks the server of cfg about the run that cfg names.
func ReadOverview(ctx context.Context, cfg configs.Config, o Options) (Overview, error) {
	r, err := Look(ctx, cfg, o)
	if err != nil {
		return Overview{}, err
	}
	defer r.Close()
	return r.Overview(ctx)
}

// Look connects to the run that cfg names on cfg's server, for somebody who has no role
// and no directory there. The error wraps bus.ErrNoRun if the server does not have it.
func Look(ctx context.Context, cfg configs.Config, o Options) (*Run, error) {
	r := newRun("", cfg, o)
	if _, err := r.look(ctx); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// Overview asks the server about the run.
func (r *Run) Overview(ctx context.Context) (Overview, error) {
	var v Overview
	var err error
	if v.Run, err = r.conn.FindRun(ctx, r.identity.Name); err != nil {
		return v, err
	}
	if v.Members, err = r.bus.Members(ctx); err != nil {
		return v, err
	}
	slices.SortFunc(v.Members, func(a, b bus.Member) int {
		return strings.Compare(a.Role+" "+a.Instance, b.Role+" "+b.Instance)
	})
	for _, name := range []string{replayLease, trainerLease, refereeLease} {
		l, err := r.bus.ReadLease(ctx, name)
		if errors.Is(err, bus.ErrNoLease) {
			continue
		}
		if err != nil {
			return v, err
		}
		v.Leases = append(v.Leases, l)
	}
	if v.Stream, err = r.bus.Stats(ctx); err != nil {
		return v, err
	}
	v.Time = time.Now().UTC()
	if v.Current, v.CurrentAt, err = r.readRecordAt(ctx, r.currentKey()); err != nil {
		return v, err
	}
	if v.Offered, v.OfferedAt, err = r.readRecordAt(ctx, r.candidateKey()); err != nil {
		return v, err
	}
	if v.Refused, err = r.refusals(ctx); err != nil {
		return v, err
	}
	v.Findings = v.findings()
	return v, nil
}

// look connects to the run that the configuration names on its server, for somebody who
// has no role and no directory there.
func (r *Run) look(ctx context.Context) (record bus.RunRecord, err error) {
	r.identity.Name = r.cfg.Run.Name
	if err := r.connect(ctx); err != nil {
		return record, err
	}
	record, err = r.conn.FindRun(ctx, r.identity.Name)
	if errors.Is(err, bus.ErrNoRun) {
		err = fmt.Errorf("%w; %s", err, knownRuns(ctx, r.conn))
	}
	if err == nil {
		r.public, err = publicKey(record.PublicKey)
	}
	if err != nil {
		return record, err
	}
	r.identity.ID, r.identity.Protocol, r.cfg.Variant, r.cfg.Net.Kind = record.ID, record.Protocol, record.Variant, record.Kind
	return record, r.join(ctx, bus.JoinOptions{Look: true})
}

// knownRuns names the runs of a server.
func knownRuns(ctx context.Context, c *bus.Conn) string {
	runs, err := c.Runs(ctx)
	if err != nil || len(runs) == 0 {
		return "the server has no runs"
	}
	var names []string
	for _, r := range runs {
		names = append(names, r.Name)
	}
	return "the server has " + strings.Join(names, ", ")
}

// readRecord returns the record that a pointer holds, nil if there is none.
func (r *Run) readRecord(ctx context.Context, key string) (*nets.Record, error) {
	record, _, err := r.readRecordAt(ctx, key)
	return record, err
}

// readRecordAt also returns when the server stored it.
func (r *Run) readRecordAt(ctx context.Context, key string) (*nets.Record, time.Time, error) {
	p, err := r.bus.Pointer(ctx, key)
	if errors.Is(err, bus.ErrNoPointer) {
		return nil, time.Time{}, nil
	}
	if err != nil {
		return nil, time.Time{}, err
	}
	record, err := nets.ParseRecord(p.Value)
	return &record, p.Time, err
}

// findings says what stands still.
func (v *Overview) findings() []string {
	var out []string
	there := map[string]int{}
	waiting := uint64(0)
	for _, m := range v.Members {
		there[m.Role]++
		waiting += m.Waiting
		if m.FailedNet != "" {
			out = append(out, fmt.Sprintf("%s %s cannot load net %s: %s", m.Role, m.Instance, short(m.FailedNet), m.FailedWhy))
		}
		if m.StreamLost > 0 {
			out = append(out, fmt.Sprintf("the stream has lost %d messages since %s %s began; actors publish their games again", m.StreamLost, m.Role, m.Instance))
		}
		if m.BufferLost > 0 {
			out = append(out, fmt.Sprintf("the replay buffer on %s has lost %d games; selfplay replay audit says where", m.Host, m.BufferLost))
		}
		for _, u := range m.Unverifiable {
			out = append(out, u.String())
		}
		for _, s := range m.Stalled {
			out = append(out, fmt.Sprintf("%s %s: %v", m.Role, m.Instance, s))
		}
	}
	out = append(out, v.missing()...)
	if v.Stream.MaxBytes > 0 && v.Stream.Bytes*10 > uint64(v.Stream.MaxBytes)*9 {
		out = append(out, fmt.Sprintf("the stream of games is %d %% full: actors wait for replay", 100*v.Stream.Bytes/uint64(v.Stream.MaxBytes)))
	}
	if v.Stream.Unacked >= bus.MaxUnacked {
		out = append(out, fmt.Sprintf("%d messages are fetched and not stored: replay stands still", v.Stream.Unacked))
	}
	if v.Stream.Pending > 0 && there["replay"]+there["loop"] > 0 && waiting > 0 {
		out = append(out, fmt.Sprintf("%d messages and %d spooled games wait for replay", v.Stream.Pending, waiting))
	}
	return out
}

// missing says which roles nobody has, without which the run does not go on.
func (v *Overview) missing() (out []string) {
	for _, need := range []struct{ role, without string }{
		{"replay", "games stay on the actors' disks until there is one"},
		{"trainer", "no nets are offered until there is one"},
		{"gate", "offered nets are not judged until there is one"},
		{"actor", "no games are played until there is one"},
	} {
		if !slices.ContainsFunc(v.Members, func(m bus.Member) bool { return m.Role == need.role || m.Role == "loop" }) {
			out = append(out, fmt.Sprintf("there is no %s: %s", need.role, need.without))
		}
	}
	return out
}

// Write prints the overview as text.
func (v *Overview) Write(w io.Writer) error {
	now := time.Now()
	begun := ""
	if !v.Run.Created.IsZero() {
		begun = v.Run.Created.Local().Format(time.DateTime) + " "
	}
	fmt.Fprintf(w, "run %s  id %s  %s, %s nets  begun %sby build %s  protocol %d\n", v.Run.Name, v.Run.ID, v.Run.Variant, v.Run.Kind,
		begun, v.Run.Build, v.Run.Protocol)
	for _, n := range []struct {
		what   string
		record *nets.Record
		at     time.Time
	}{{"played with", v.Current, v.CurrentAt}, {"offered last", v.Offered, v.OfferedAt}} {
		if n.record == nil {
			fmt.Fprintf(w, "%s: no net yet\n", n.what)
		} else {
			fmt.Fprintf(w, "%s: net %s, generation %d (%s by %s%s) %s\n", n.what, short(n.record.Net), n.record.Generation, n.record.Action, n.record.By, ago(", ", now, n.at), n.record.Why)
		}
	}
	s := v.Stream
	if !v.Local {
		fmt.Fprintf(w, "games on the server: %d messages, %d of %d bytes; %d not fetched, %d fetched and not stored%s%s\n", s.Messages, s.Bytes, s.MaxBytes, s.Pending, s.Unacked,
			ago("; the oldest came ", now, s.Oldest), ago("; the newest ever came ", now, s.Newest))
	}
	if s.Rejects > 0 {
		fmt.Fprintf(w, "quarantined games of the last days: %d, the newest:\n", s.Rejects)
	}
	for _, f := range v.Refused {
		fmt.Fprintf(w, "  %s  actor %s: %s\n", f.Time.Local().Format(time.DateTime), cmp.Or(f.Actor, "unknown"), f.Reason)
	}
	for _, m := range v.Members {
		if m.Role != "replay" && m.Role != "loop" {
			continue // who has no replay buffer puts nobody in quarantine
		}
		for _, x := range m.Excluded {
			fmt.Fprintf(w, "in quarantine: actor %s: %s\n", x.Actor, cmp.Or(x.Why, "nobody said why"))
		}
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "ROLE\tNAME\tHOST\tPID\tBUILD\tUP\tSEEN\tNET\tGAMES\tSPOOLED\tSTATE")
	for _, m := range v.Members {
		net, games, spooled := "-", "-", "-" // of those who do not play
		if m.Role == "actor" || m.Role == "loop" {
			net, games, spooled = fmt.Sprint(m.Generation), fmt.Sprint(m.Games), fmt.Sprint(m.Waiting)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%s\t%s\t%s ago\t%s\t%s\t%s\t%s\n", m.Role, m.Instance, m.Host, m.PID, m.Build,
			now.Sub(m.Since).Round(time.Second), now.Sub(m.Seen).Round(time.Second), net, games, spooled, m.State)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, l := range v.Leases {
		state := "held"
		if l.Released {
			state = "given back"
		}
		fmt.Fprintf(w, "%s: %s by %s on %s, process %d, since %s, fence %d%s\n", l.Role, state, l.Instance, l.Host, l.PID, l.Since.Local().Format(time.DateTime), l.Fence, ago(", written ", now, l.Renewed))
	}
	for _, f := range v.Findings {
		fmt.Fprintln(w, "!", f)
	}
	return nil
}

// ago says after words how long ago something was, and nothing of the zero time. The server's
// clock may be ahead of this one.
func ago(words string, now, then time.Time) string {
	if then.IsZero() {
		return ""
	}
	return words + max(0, now.Sub(then)).Round(time.Second).String() + " ago"
}
