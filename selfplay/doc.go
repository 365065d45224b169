// Package selfplay holds the roles of a run and the loop that wires them
// together:
//
//	Actor     plays games with the newest net, spools and publishes them
//	Ingester  moves published games into the replay buffer
//	Learner   trains on the buffer and offers nets
//	Referee   plays every offered net against the current one and moves the pointer
//
// Each role may be killed at any moment and started again; what it had
// acknowledged is on disk. Open opens a run's directory with its bus, and
// Run.Loop runs all roles until its context ends.
package selfplay
