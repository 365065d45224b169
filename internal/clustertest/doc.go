// Package clustertest runs a whole cluster of this program's processes on one
// machine: NATS servers, actors, replay, trainer and gates. It kills, stops and wipes
// them, and compares what the actors finished, as their spools show it, with what the
// replay buffer holds in the end.
//
// It looks at processes only from outside: at the files of their directories and at
// the server. What a process says about itself counts for nothing in the verdict.
// Unix only, since processes are stopped and continued by signals.
package clustertest
