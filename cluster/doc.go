// Package cluster writes what the servers and machines of a run are set up with: the
// configuration of NATS servers, keys, a user for each role, certificates, units of
// systemd and of containers, alerts. All of it follows from a Plan.
package cluster
