// Package trainer turns samples into nets: it draws batches from a Source, lets a
// Model learn them by a schedule, measures held-out games, writes checkpoints
// from which training resumes bit for bit, and exports nets with the facts their
// manifest states.
//
// A Trainer makes one optimiser step per call of Step; pacing, publishing and
// stopping are the caller's. Everything random comes from one generator that
// is part of the checkpoint: n steps give the same bits as k steps, a
// checkpoint, a resume and n−k more, provided the source draws the same.
package trainer
