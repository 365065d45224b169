package selfplay

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/internal/disk"
	"github.com/crazyhouse-rl/selfplay/match/rating"
	"github.com/crazyhouse-rl/selfplay/replay"
)

// Figures are what a Status has for monitoring beside what it shows to people. They are
// of this process since it started the run, unless said otherwise.
type Figures struct {
	Plies       uint64        // of the games finished
	Evaluations uint64        // positions that the net of tree searches was asked for
	Batches     uint64        // in which it was asked
	Oldest      time.Time     // when the oldest spooled game was finished; zero: none is spooled
	Left        uint64        // games that have left the spool: stored, refused, or no games at all
	Confirmed   uint64        // of these the ones of which the replay role said that they are on its disk
	Waited      time.Duration // the sum of the times from the end of these games to that

	Games, Positions        uint64 // stored
	Duplicates, Quarantined uint64 // games that the replay buffer had already, and that it refused
	Steps, Samples          uint64 // of the optimiser, and trained on

	Bytes      uint64                // of the replay buffer's segments
	Segments   uint64                // of the replay buffer
	Stored     time.Time             // when games were last stored; zero: not yet
	Rejected   [rejectReasons]uint64 // games refused, by reason; see RejectReasons
	Dropped    uint64                // of these, those above an actor's limits
	Offered    time.Time             // when a net was last offered; zero: not yet
	Checkpoint time.Time             // when the trainer last wrote one; zero: not yet

	Passed, Failed uint64          // candidates that the gate let through, and did not
	Judged         int             // generation of the newest of them
	Gated          uint64          // pairs played of the gate's matches, and verdicts noted: what came out of the gate
	Elo            rating.Estimate // of the newest match: the candidate over the incumbent

	Verified VerifyStats
	Leases   []string // of the roles that this process has
}

// Why games are quarantined, as indexes into Figures.Rejected.
const (
	rejectSeal     = iota // not signed, by another key than the actor's, or sent by another actor
	rejectID              // the id is not one of the run's
	rejectIllegal         // against the rules
	rejectOutcome         // the result is not that of the moves
	rejectVariant         // of another game
	rejectExcluded        // of an actor that a verifier had excluded
	rejectSize            // too large
	rejectDamaged         // not a game, cut short or changed
	rejectRate            // more than an actor may send in a minute; not kept in quarantine
	rejectQuota           // more than it may send in a day; likewise
	rejectOther

	rejectReasons = iota
)

// RejectReasons names the reasons of Figures.Rejected.
var RejectReasons = [rejectReasons]string{"signature", "id", "illegal", "outcome", "variant", "excluded", "size", "damaged", "rate", "quota", "other"}

// rejectReason sorts an error for which a game was quarantined.
func rejectReason(err error) int {
	for _, r := range []struct {
		reason int
		errs   []error
	}{
		{rejectSeal, []error{game.ErrSeal}},
		{rejectID, []error{game.ErrID}},
		{rejectIllegal, []error{game.ErrIllegal}},
		{rejectOutcome, []error{game.ErrOutcome}},
		{rejectVariant, []error{replay.ErrVariant, game.ErrVariant}},
		{rejectExcluded, []error{replay.ErrExcluded}},
		{rejectSize, []error{game.ErrTooLarge}},
		{rejectRate, []error{errRate}},
		{rejectQuota, []error{errQuota}},
		{rejectDamaged, []error{game.ErrMagic, game.ErrVersion, game.ErrTruncated, game.ErrTrailing, game.ErrCRC, game.ErrMalformed}},
	} {
		if slices.ContainsFunc(r.errs, func(e error) bool { return errors.Is(err, e) }) {
			return r.reason
		}
	}
	return rejectOther
}

// holds notes that this process has a lease, or has it no more.
func (s *sharedStatus) holds(lease string, held bool) {
	s.update(func(s *Status) {
		leases := slices.DeleteFunc(slices.Clone(s.Figures.Leases), func(l string) bool { return l == lease })
		if held {
			leases = append(leases, lease)
		}
		s.Figures.Leases = leases
	})
}

func (s VerifyStats) clone() VerifyStats {
	s.Skipped = maps.Clone(s.Skipped)
	return s
}

// LeaseNames are the roles of a run that one process at a time has.
var LeaseNames = []string{replayLease, trainerLease, refereeLease}

// Observation is what a process shows to monitoring.
type Observation struct {
	Status    Status
	Name, ID  string // of the run
	Role      string
	Build     string
	Variant   string
	SpoolMax  int               // games that the spool takes
	Connected bool              // to a server, now
	DiskFree  uint64            // bytes, where the directory is, if DiskKnown
	DiskKnown bool              // the system has said it
	Stream    *bus.Stats        // of games; nil: not asked, or the server did not answer
	Holders   []bus.LeaseRecord // of the leases, as the server knows them; nil likewise
	Problems  []string          // why the process cannot do its work now; none: it is ready
}

// readyRoom is the free disk below which a process is not ready.
const readyRoom = 64 << 20

// Observe looks at the process. With ask, a replay role or a loop asks the server too,
// for as long as ctx lasts; the server may be away. Others would all ask the same.
func (r *Run) Observe(ctx context.Context, ask bool) Observation {
	role := r.opt.Role
	if role == "" {
		role = "loop"
	}
	o := Observation{
		Status: r.Status(), Name: r.identity.Name, ID: r.id(), Role: role, Build: r.opt.Build,
		Variant: r.cfg.Variant, SpoolMax: r.cfg.Actor.SpoolMaxGames, Connected: r.conn.Connected(),
	}
	if free, err := disk.Free(r.dir); err == nil {
		o.DiskFree, o.DiskKnown = free, true
		if free < readyRoom {
			o.Problems = append(o.Problems, "the disk is nearly full")
		}
	}
	if !o.Connected {
		o.Problems = append(o.Problems, "there is no connection to a server")
	} else if ask && (role == "replay" || role == "loop") {
		o.ask(ctx, r.bus)
	}
	if o.Status.FailedNet != "" {
		o.Problems = append(o.Problems, "net "+short(o.Status.FailedNet)+" cannot be loaded: "+o.Status.FailedWhy)
	}
	if (role == "actor" || role == "loop") && o.Status.Spooled >= o.SpoolMax {
		o.Problems = append(o.Problems, "the spool is full: games do not get to the replay buffer")
	}
	return o
}

// ask asks the server. What it does not answer is left out.
func (o *Observation) ask(ctx context.Context, b *bus.Bus) {
	stats, err := b.Stats(ctx)
	if err == nil {
		o.Stream = &stats
	}
	for _, name := range LeaseNames {
		l, err := b.ReadLease(ctx, name)
		if errors.Is(err, bus.ErrNoLease) {
			continue
		}
		if err != nil {
			return
		}
		o.Holders = append(o.Holders, l)
	}
}
