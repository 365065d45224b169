package nnuefit

import (
	"fmt"
	"hash/crc32"
	"io"
	"iter"
	"slices"

	"github.com/crazyhouse-rl/selfplay/nnue/features"
	"github.com/crazyhouse-rl/selfplay/trainer"
)

// A checkpoint, little-endian throughout:
//
//	magic [8], version uint32
//	features, virtual, width, stacks, l2, l3 uint32
//	length uint32 and text of the architecture
//	since version 3: optimiser, its place among trainer.Optimisers, uint32
//	since version 4: start of the PSQT weights, 1 + its place among PSQTStarts, 0 if
//	unknown, uint32
//	score scale float64, since version 5 score offset float64, steps uint64
//	since version 3: steps at which the moments began uint64
//	settlePeriod × (rate, since version 3 plain rate, keep float64)
//	virtual rows: weights, first moments, second moments float32
//	dense parameters: the same
//	number of rows uint32, then per row: feature, last step uint32, three times a row of float32
//	since version 2: 1 if the averaged net follows, else 0, uint32; then its virtual
//	rows, dense parameters and, in the order above, rows, float32
//	since version 3: the slow weights of Ranger, in the order of the averaged net
//	CRC-32C of everything before it, uint32
//
// Version 1 had no averaged net; read, it begins anew at the parameters.
// Versions 1 and 2 were AdamW's. Until version 3 the PSQT weights of HalfKAv2
// began at the piece values and those of all other sets at 0.
//
// With a factoriser, rows never touched are not stored: they hold their first
// values, which depend on nothing but the architecture and the start of the PSQT
// weights. Without one, all are stored. Sums of feature sets had no factoriser at
// first; training from such a checkpoint goes on without.
const (
	checkpointMagic   = "NNUEFIT\n"
	checkpointVersion = 5
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Checkpoint writes the whole state of training to w: weights, moments,
// optimiser state.
// It changes nothing, so training goes on as if it had not been called.
func (m *Model) Checkpoint(w io.Writer) error {
	e := newEncoder(w)
	c := m.core
	e.bytes([]byte(checkpointMagic))
	e.uint32(checkpointVersion)
	for _, n := range m.sizes() {
		e.uint32(uint32(n))
	}
	e.uint32(uint32(len(m.arch.String())))
	e.bytes([]byte(m.arch.String()))
	e.uint32(uint32(slices.Index(trainer.Optimisers(), c.optimiser.rule.Optimiser)))
	e.uint32(uint32(1 + slices.Index(PSQTStarts(), m.start)))
	e.float64(m.cfg.ScoreScale)
	e.float64(m.cfg.ScoreOffset)
	e.uint64(c.optimiser.step)
	e.uint64(c.optimiser.started)
	for _, p := range c.optimiser.ring {
		e.float64(p.Rate)
		e.float64(p.Plain)
		e.float64(p.Keep)
	}
	for _, part := range [...][]float32{c.virtualRows.w, c.virtualRows.m, c.virtualRows.v} {
		e.rows(part, &c.virtualRows)
	}
	e.params(c.dense)
	stored := 0
	for range c.storedRows() {
		stored++
	}
	e.uint32(uint32(stored))
	for f := range c.storedRows() {
		e.uint32(uint32(f))
		e.uint32(c.rows.last[f])
		e.params(c.rows.row(f))
	}
	if c.mean.decay == 0 {
		e.uint32(0)
	} else {
		e.uint32(1)
		e.shadow(&c.mean.shadow, c)
	}
	if c.optimiser.rule.Optimiser == trainer.Ranger {
		e.shadow(&c.slow, c)
	}
	return e.close()
}

// shadow writes weights that follow the parameters.
func (e *encoder) shadow(s *shadow, c *core) {
	e.rows(s.virtual, &c.virtualRows)
	e.table(s.dense)
	for f := range c.storedRows() {
		e.table(s.row(f, c))
	}
}

// storedRows gives the real rows that a checkpoint holds.
func (c *core) storedRows() iter.Seq[int] {
	return func(yield func(int) bool) {
		for f, step := range c.rows.last {
			if (step > 0 || c.virtual == 0) && !yield(f) {
				return
			}
		}
	}
}

// virtualSize is the place of the number of virtual rows among the sizes.
const virtualSize = 1

func (m *Model) sizes() [6]int {
	c := m.core
	return [6]int{c.features, c.virtual, c.width, c.stacks, c.l2, c.l3}
}

// Restore replaces the whole state with a checkpoint's. The model must have been
// made for the same architecture; seed and settings other than the score scale and
// offset are not part of a checkpoint. After another optimiser's checkpoint the model's
// own begins anew at its weights. On error, which wraps trainer.ErrCheckpoint unless r
// itself failed, nothing has changed. Restore reads to the end of r, which must
// be the end of the checkpoint.
func (m *Model) Restore(r io.Reader) error {
	d := newDecoder(r)
	s, err := m.readHead(d)
	if err != nil {
		return fmt.Errorf("restore model: %w", err)
	}
	fresh := *m
	fresh.core = newCore(s, m.cfg, m.core.scales, m.core.limits)
	if err := fresh.readState(d); err != nil {
		return fmt.Errorf("restore model: %w", err)
	}
	*m = fresh
	return nil
}

// readHead checks that the checkpoint is one and belongs to this architecture. It returns
// the shape of its model.
func (m *Model) readHead(d *decoder) (shape, error) {
	s := m.core.shape
	if magic := d.text(len(checkpointMagic)); d.err == nil && magic != checkpointMagic {
		return s, fmt.Errorf("%w: found magic %q, expected %q", trainer.ErrCheckpoint, magic, checkpointMagic)
	}
	if d.version = d.uint32(); d.err == nil && (d.version < 1 || d.version > checkpointVersion) {
		return s, fmt.Errorf("%w: found version %d, expected 1 to %d", trainer.ErrCheckpoint, d.version, checkpointVersion)
	}
	for i, want := range m.sizes() {
		got := d.uint32()
		if i == virtualSize && got == 0 && len(features.Parts(m.set)) > 1 {
			s.virtual, s.toVirtual = 0, nil
			continue
		}
		if d.err == nil && got != uint32(want) {
			return s, fmt.Errorf("%w: size %d is %d, expected %d for %v", trainer.ErrCheckpoint, i, got, want, m.arch)
		}
	}
	want := m.arch.String()
	if n := d.uint32(); d.err == nil && n != uint32(len(want)) {
		return s, fmt.Errorf("%w: another architecture, expected %v", trainer.ErrCheckpoint, m.arch)
	}
	if got := d.text(len(want)); d.err == nil && got != want {
		return s, fmt.Errorf("%w: found %s, expected %s", trainer.ErrCheckpoint, got, want)
	}
	return s, d.failure()
}

func (m *Model) readState(d *decoder) error {
	kind, err := d.optimiser()
	if err != nil {
		return err
	}
	if m.start, err = d.psqtStart(m.set); err != nil {
		return err
	}
	scale, offset := d.float64(), 0.0
	if d.version >= 5 {
		offset = d.float64()
	}
	c := m.core
	c.startPSQT(m.startWeights())
	d.optimiserState(&c.optimiser)
	for _, part := range [...][]float32{c.virtualRows.w, c.virtualRows.m, c.virtualRows.v} {
		d.rows(part, &c.virtualRows)
	}
	d.params(c.dense)
	if err := m.readRows(d); err != nil {
		return err
	}
	c.idle.fill(&c.optimiser)
	c.startMean(m.cfg.MeanDecay)
	if d.version >= 2 {
		if err := d.mean(c); err != nil {
			return err
		}
	}
	c.startSlow()
	if kind == trainer.Ranger {
		if kind != c.optimiser.rule.Optimiser {
			c.slow = newShadow(c)
		}
		d.shadow(&c.slow, c)
	}
	if err := d.close(); err != nil {
		return err
	}
	if kind != c.optimiser.rule.Optimiser {
		c.restart()
	}
	if err := m.SetScoreScale(scale); err != nil {
		return err
	}
	return m.SetScoreOffset(offset)
}

func (m *Model) readRows(d *decoder) error {
	c := m.core
	n := d.uint32()
	if d.err == nil && n > uint32(c.features) {
		return fmt.Errorf("%w: found %d rows, expected at most %d", trainer.ErrCheckpoint, n, c.features)
	}
	next := uint32(0)
	for range n {
		f, last := d.uint32(), d.uint32()
		if d.err != nil {
			return nil // close reports it
		}
		if f < next || f >= uint32(c.features) {
			return fmt.Errorf("%w: found row %d, expected %d to %d", trainer.ErrCheckpoint, f, next, c.features-1)
		}
		if last == 0 && c.virtual > 0 || uint64(last) > c.optimiser.step || last > 0 && c.optimiser.step-uint64(last) > settlePeriod {
			return fmt.Errorf("%w: row %d is of step %d, expected at most %d before %d", trainer.ErrCheckpoint, f, last, settlePeriod, c.optimiser.step)
		}
		c.rows.last[f] = last
		d.params(c.rows.row(int(f)))
		next = f + 1
	}
	return nil
}
