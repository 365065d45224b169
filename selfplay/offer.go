package selfplay

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/internal/pause"
	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/trainer"
	"github.com/crazyhouse-rl/selfplay/trainer/run"
)

const keepRetry = 2 * time.Second // after the disk took no checkpoint or net

func (l *learner) checkpoint() error {
	state, err := json.Marshal(l.state)
	if err != nil {
		return err
	}
	err = l.trainer.Checkpoint(l.run.path(trainDir), state)
	if err == nil {
		l.run.status.update(func(s *Status) { s.Figures.Checkpoint = time.Now() })
	}
	return err
}

// offer exports a net, stores it signed, and points the candidate at it. The
// checkpoint comes before the pointer: a trainer killed in between offers its
// next net, not the same generation twice.
func (l *learner) offer(ctx context.Context) error {
	var m nets.Manifest
	var facts trainer.Facts
	err := l.keep(ctx, func() (err error) {
		m, facts, err = l.export()
		return err
	})
	if err != nil {
		return err
	}
	l.state.Generation, l.state.Parent = m.Generation, m.ID
	if err := l.keep(ctx, l.checkpoint); err != nil {
		return err
	}
	for err := l.publish(ctx, m); err != nil; err = l.publish(ctx, m) {
		if errors.Is(err, bus.ErrFenced) {
			return err
		}
		l.run.status.set(roleTrainer, "waiting for the bus: %v", err)
		if !pause.For(ctx, l.run.wait(publishRetry)) {
			return nil
		}
	}
	l.run.status.update(func(s *Status) { s.Candidate, s.Figures.Offered = m.Generation, time.Now() })
	scores := run.ScoresOf(l.model)
	l.run.event("net offered", "generation", m.Generation, "net", m.ID, "step", m.Step, "games", m.Games,
		"held_out_loss", m.HeldOutLoss, "score_loss", facts.HeldOut.Score, "result_loss", facts.HeldOut.Result,
		"sign_accuracy", facts.HeldOut.SignAccuracy, "lambda", facts.Lambda, "score_scale", scores.Scale, "score_offset", scores.Offset,
		"export_mean_raw", facts.Export.MeanRaw, "export_max_raw", facts.Export.MaxRaw,
		"elapsed_s", int(l.run.Status().Elapsed.Seconds()))
	l.prune(ctx)
	return nil
}

// export puts the net as it is now into the local store, signed.
func (l *learner) export() (m nets.Manifest, facts trainer.Facts, err error) {
	l.run.status.set(roleTrainer, "exporting generation %d", l.state.Generation+1)
	path := l.run.path(exportFile)
	defer os.Remove(path)
	if facts, err = l.trainer.Export(path); err == nil {
		m, err = l.store(path, facts)
	}
	return m, facts, err
}

// prune removes old nets and reports a failure when it is another than the last one.
func (l *learner) prune(ctx context.Context) {
	err := l.run.pruneNets(ctx)
	if err == nil || ctx.Err() != nil {
		return
	}
	if text := err.Error(); text != l.unpruned {
		l.unpruned = text
		l.run.event("old nets not removed", "error", text)
	}
}

// publish puts the net on the bus and moves the candidate pointer to it. It may
// be called again after an error.
func (l *learner) publish(ctx context.Context, m nets.Manifest) error {
	if err := l.run.putNet(ctx, m.ID); err != nil {
		return err
	}
	p, err := l.run.bus.Pointer(ctx, l.run.candidateKey())
	if err != nil && !errors.Is(err, bus.ErrNoPointer) {
		return err
	}
	record := nets.Record{Schema: nets.RecordSchema, Net: m.ID, Generation: m.Generation, Action: nets.Publish, By: "trainer@" + hostname(), From: m.Parent}
	_, err = l.set(ctx, l.run.candidateKey(), l.run.pointerText(record), p.Revision)
	return err
}

// store puts the exported net and its manifest into the local store.
func (l *learner) store(path string, facts trainer.Facts) (nets.Manifest, error) {
	f, err := os.Open(path)
	if err != nil {
		return nets.Manifest{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nets.Manifest{}, err
	}
	id, _, err := l.run.store.Put(f, l.run.cfg.Net.Kind)
	if err != nil {
		return nets.Manifest{}, err
	}
	m := nets.Manifest{
		Schema: nets.ManifestSchema, ID: id, Size: info.Size(), Variant: l.run.cfg.Variant,
		Run: l.run.manifestRun(), Parent: l.state.Parent, Generation: l.state.Generation + 1,
		Step: facts.Step, Samples: facts.Samples, Games: l.buffer.Stats().Games,
		HeldOutLoss: facts.HeldOut.Mean, Seed: l.run.cfg.Seed, Build: l.run.opt.Build,
	}
	l.training.Describe(&m, l.model)
	if err := m.Sign(l.run.key); err != nil {
		return m, err
	}
	if err := l.offered.add(m.ID); err != nil {
		return m, err
	}
	return m, l.run.store.PutManifest(m)
}

// keep calls write again as long as the system refuses to write files and ctx has not
// ended: a full disk holds up the trainer, and ends neither it nor the games.
func (l *learner) keep(ctx context.Context, write func() error) error {
	for {
		err := write()
		if !ofSystem(err) || ctx.Err() != nil {
			return err
		}
		l.run.status.set(roleTrainer, triesAgain+": %v", err)
		if text := err.Error(); text != l.unkept {
			l.unkept = text
			l.run.log.Warn("the trainer cannot write its files, trying again", "error", err)
		}
		if !pause.For(ctx, l.run.wait(keepRetry)) {
			return err
		}
	}
}
