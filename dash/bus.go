package dash

import (
	"context"
	"reflect"
	"strings"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/internal/words"
	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/selfplay"
)

// onServers reports whether the run is seen through its servers alone.
func (w *Watch) onServers() bool { return w.cfg.Dir == "" }

// readNets asks for the nets of a run that has no directory here, if the overview says that
// they have changed.
func (w *Watch) readNets(ctx context.Context, v *selfplay.Overview) error {
	key := recordKey(v.Current) + " " + recordKey(v.Offered)
	w.mu.Lock()
	known := w.servers.netsAre == key
	w.mu.Unlock()
	if w.cfg.Nets == nil || known {
		return nil
	}
	list, changes, err := w.cfg.Nets(ctx)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.servers.netsAre, w.servers.manifests = key, map[string]nets.Manifest{}
	passed, ungated := map[string]bool{}, map[string]bool{}
	for _, c := range changes {
		if c.Net != "" && c.Error == "" && c.Action != nets.Rollback {
			if c.Why == selfplay.GateOff {
				ungated[c.Net] = true
			} else {
				passed[c.Net] = true
			}
		}
	}
	w.servers.offered = nil
	for _, m := range list {
		w.servers.manifests[m.ID] = m
		w.servers.offered = append(w.servers.offered, selfplay.OfferedNet{
			Generation: m.Generation, Net: m.ID, Step: m.Step, Games: float64(m.Games), HeldOutLoss: m.HeldOutLoss,
		}) // nobody there knows when it was offered
	}
	w.servers.passed, w.servers.ungated = passed, ungated
	w.rebuild()
	return nil
}

// rebuild makes the curve anew of the nets on the servers and the verdicts of the referee.
func (w *Watch) rebuild() {
	c := selfplay.Curve{}
	for _, o := range w.servers.offered {
		c.Offer(o)
	}
	for _, v := range w.servers.verdicts {
		c.Judge(v)
	}
	w.events.curve = c
	w.events.version++
}

// readJudging asks the referee what it has judged since it was asked last. That there is
// none, or one of an earlier build, is no failure.
func (w *Watch) readJudging(ctx context.Context) {
	if w.cfg.Judging == nil {
		return
	}
	w.mu.Lock()
	known := w.servers.known
	w.mu.Unlock()
	j, err := w.cfg.Judging(ctx, known)
	w.mu.Lock()
	defer w.mu.Unlock()
	s := &w.servers
	was := s.untold
	if s.untold = ""; err != nil {
		s.untold = err.Error()
	}
	if s.untold != was {
		w.logs.version++ // the page shows it beside the matches
	}
	if err != nil {
		return
	}
	fewer := j.Total < known // another referee, which knows of fewer
	if fewer {
		s.verdicts, known, s.missed = nil, 0, 0
	}
	s.missed += max(0, j.First-known)
	s.known = j.Total
	if len(j.Verdicts) > 0 || fewer {
		s.verdicts = append(s.verdicts, j.Verdicts...)
		w.rebuild()
	}
	if !reflect.DeepEqual(j.Matches, w.logs.matches) {
		w.logs.matches = j.Matches
		w.logs.version++
	}
}

// follow begins to follow the games that are published, once.
func (w *Watch) follow() {
	s := &w.servers
	w.buffer.run, w.buffer.begun = w.run.ID, true
	if w.cfg.Games == nil || s.following != nil {
		return
	}
	stop, err := w.cfg.Games(func(encoded []byte) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.buffer.published(encoded, time.Now())
	})
	if err != nil {
		s.problem = err.Error()
		return
	}
	s.following = stop
}

func recordKey(r *nets.Record) string {
	if r == nil {
		return ""
	}
	return r.Net + r.Action
}

// busState is the state of a run by what its servers say. What they have said of games and
// matches holds as long as they answer.
func (w *Watch) busState(now time.Time) State {
	out := State{Servers: true}
	v := w.servers.overview
	stage := func(id, name string) Stage {
		return Stage{ID: id, Name: name, Mode: unknown, State: "nothing is known yet"}
	}
	play, way, store := stage("play", "Play"), stage("way", "On the way"), stage("store", "Replay buffer")
	train, gate, net := stage("train", "Trainer"), stage("gate", "Gate"), stage("net", "Net")
	out.Links = []Link{
		{From: "play", Name: "games", Unit: "/s"}, {From: "way", Name: "waiting messages"}, {From: "store", Name: "samples"},
		{From: "train", Name: "offered generation"}, {From: "gate", Name: "passed generation"}, {From: "net", Name: "generation"},
	}
	if w.servers.problem != "" {
		out.Findings = append(out.Findings, "the servers do not answer: "+w.servers.problem)
	}
	if v != nil {
		out.Findings = append(out.Findings, v.Findings...)
		waiting, rate := uint64(0), 0.0
		for _, m := range v.Members {
			waiting += m.Waiting
			if r := w.servers.rates[memberKey(m)]; r != nil && (m.Role == "actor" || m.Role == "loop") {
				rate += r.perSecond(now)
			}
		}
		play.byMembers(v.Members, "actor")
		store.byMembers(v.Members, "replay")
		train.byMembers(v.Members, "trainer")
		gate.byMembers(v.Members, "gate")
		way.Mode, way.State = working, "games on the servers and in spools"
		way.Figures = []Figure{figure("messages", v.Stream.Messages, ""), figure("spooled", waiting, "games"), figure("not stored", v.Stream.Unacked, "messages")}
		if v.Stream.Rejects > 0 {
			store.Figures = append(store.Figures, figure("quarantined", v.Stream.Rejects, "games"))
		}
		out.Links[0].Value, out.Links[0].Flows = number(rate), rate > 0
		out.Links[1].Value, out.Links[1].Flows = number(float64(v.Stream.Pending)), rate > 0
		if v.Offered != nil {
			out.Links[3].Value = number(float64(v.Offered.Generation))
		}
		net.Mode, net.State, net.Figures = working, "played with", []Figure{{Name: "net", Text: "none yet"}}
		if v.Current != nil {
			net.Figures = []Figure{{Name: "net", Text: shortID(v.Current.Net)}, figure("generation", v.Current.Generation, "")}
			out.Links[4].Value, out.Links[5].Value = number(float64(v.Current.Generation)), number(float64(v.Current.Generation))
		}
	}
	gate.Figures = append(gate.Figures, w.lastJudged()...)
	net.Figures = append(net.Figures, reached(w.events.curve.Passed)...)
	if w.servers.problem == "" && w.servers.untold == "" {
		out.Gate = w.match()
	}
	out.Links[3].Flows = out.Gate != nil
	out.Stages = []Stage{play, way, store, train, gate, net}
	return out
}

// byMembers says what the processes of a role do. A loop says of each role what it does.
func (s *Stage) byMembers(members []bus.Member, role string) {
	var all []Stage // the role of each process
	add := func(state string) {
		one := Stage{State: state}
		one.judge()
		all = append(all, one)
	}
	for _, m := range members {
		switch m.Role {
		case role:
			add(m.State)
		case "loop":
			for part := range strings.SplitSeq(m.State, " | ") {
				if words, ok := strings.CutPrefix(part, role+": "); ok {
					add(words)
				}
			}
		}
	}
	switch len(all) {
	case 0:
		s.Mode, s.State = stopped, "there is none"
	case 1:
		s.Mode, s.State, s.WaitsFor = all[0].Mode, all[0].State, all[0].WaitsFor
	default:
		s.together(all)
	}
	s.Figures = append(s.Figures, figure("processes", len(all), ""))
}

// together says what several processes of a role do: they work as long as one of them does,
// and wait for a stage if no other is waited for.
func (s *Stage) together(all []Stage) {
	works, waits := 0, 0
	stages := map[string]bool{} // that are waited for
	for _, one := range all {
		switch one.Mode {
		case working:
			works++
		case waiting:
			waits++
			if one.WaitsFor != "" { // else for another process of the role, or for the servers
				stages[one.WaitsFor] = true
			}
		}
	}
	s.Mode, s.State = stopped, words.Count(len(all), "process", "processes")
	if waits > 0 {
		s.Mode, s.State = waiting, s.State+", "+words.Count(waits, "waits", "wait")
	}
	if works > 0 {
		s.Mode = working
	} else if len(stages) == 1 {
		for id := range stages {
			s.WaitsFor = id
		}
	}
}
