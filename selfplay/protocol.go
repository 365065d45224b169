package selfplay

import (
	"cmp"

	"github.com/crazyhouse-rl/selfplay/nets"
)

// What is written otherwise in a run of an earlier protocol, so that roles of earlier
// builds can read it. All protocols are read in every run.

// recordsProtocol is the first protocol with bundles of signed games, and with records
// in pointers to nets.
const recordsProtocol = 2

// protocol is what the roles of the run speak.
func (id *identity) protocol() int { return cmp.Or(id.Protocol, recordsProtocol) }

// bare reports whether the run's games travel one by one and without signatures, and
// its pointers hold the bare ids of nets.
func (id *identity) bare() bool { return id.protocol() < recordsProtocol }

// signed reports whether actors sign their games.
func (r *Run) signed() bool { return r.reachable() && !r.identity.bare() }

// pointerText is a record as the pointers of the run have it.
func (r *Run) pointerText(record nets.Record) string {
	if r.identity.bare() {
		return record.Net
	}
	return record.String()
}

// manifestRun is the run in the manifests of its nets, which readers of bare ids do not
// know.
func (r *Run) manifestRun() string {
	if r.identity.bare() {
		return ""
	}
	return r.id()
}
