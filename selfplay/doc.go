// Package selfplay holds the roles of a run and the loop that wires them
// together:
//
//	actor     plays games with the newest net, spools and publishes them (actor.go)
//	ingester  stores published games in the replay buffer and then acknowledges
//	          them (acknowledge.go)
//	learner   trains on the buffer and offers nets (learner.go)
//	referee   plays every offered net against the current one and moves the pointer
//	          (referee.go)
//
// Each role may be killed at any moment and started again; what it had
// acknowledged is on disk. Open opens a run's directory with its bus, and
// Run.Loop runs all roles until its context ends.
package selfplay
