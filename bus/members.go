package bus

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/crazyhouse-rl/selfplay/internal/words"
)

const (
	// MemberSchema is the version of Member.
	MemberSchema = 1

	memberTTL       = 30 * time.Second // a member that is not announced again is gone
	maxMembersBytes = 16 << 20         // of all members of a run: more than 20,000
)

// Member is what a process of a run says of itself. Fields of newer builds are
// left out when it is read.
type Member struct {
	Schema     int       `json:"schema"`   // MemberSchema
	Protocol   int       `json:"protocol"` // Protocol of its build
	Role       string    `json:"role"`
	Instance   string    `json:"instance"` // one process of the role
	Host       string    `json:"host"`
	PID        int       `json:"pid"`
	Build      string    `json:"build"`
	Since      time.Time `json:"since"` // when it began, by its clock
	State      string    `json:"state"` // what it does, for people
	Net        string    `json:"net,omitempty"`
	Generation int       `json:"generation,omitempty"`
	Games      uint64    `json:"games,omitempty"`      // finished since it began
	Waiting    uint64    `json:"waiting,omitempty"`    // games that it keeps for others
	FailedNet  string    `json:"failed_net,omitempty"` // newest net that it could not load
	FailedWhy  string    `json:"failed_why,omitempty"`
	FailedHere bool      `json:"failed_here,omitempty"` // it could not be fetched or kept, which says nothing against the net
	StreamLost uint64    `json:"stream_lost,omitempty"` // messages that it found missing in the game stream
	BufferLost uint64    `json:"buffer_lost,omitempty"` // games that its replay buffer has lost

	// Excluded are actors whose games the replay buffer does not take, at most MaxExcluded.
	Excluded []Excluded `json:"excluded,omitempty"`

	// Unverifiable are actors of whom a verifier cannot verify many games.
	Unverifiable []Unverifiable `json:"unverifiable,omitempty"`

	// Stalled are the stages of the process out of which nothing comes although there is
	// work.
	Stalled []Stall `json:"stalled,omitempty"`

	Seen time.Time `json:"seen,omitzero"` // when the server got it; zero in the message itself
}

// MaxExcluded is the greatest number of actors in quarantine that a replay role announces.
const MaxExcluded = 32

// Excluded says why an actor is in quarantine.
type Excluded struct {
	Actor string `json:"actor"`
	Why   string `json:"why"`
}

// Unverifiable says how many games of an actor a verifier cannot play again.
type Unverifiable struct {
	Actor string `json:"actor"`
	Games uint64 `json:"games"` // that the verifier was given
	Count uint64 `json:"count"` // of these, not verifiable
	Why   string `json:"why"`   // the most frequent reason
}

// Stall says that a stage of a process is stuck.
type Stall struct {
	Stage   string `json:"stage"`
	Waiting uint64 `json:"waiting"` // what went in and has not come out
	Seconds uint64 `json:"seconds"` // since something last came out
	Why     string `json:"why"`     // what the stage says of itself
}

// String says it in words.
func (s Stall) String() string {
	return fmt.Sprintf("%.24s is stuck: %d waiting and nothing came out for %v (%.120s)", s.Stage, s.Waiting, time.Duration(s.Seconds)*time.Second, s.Why)
}

// String says it in words.
func (u Unverifiable) String() string {
	return fmt.Sprintf("%.0f %% of %d games of actor %.24s cannot be verified: %.80s", 100*float64(u.Count)/float64(max(1, u.Games)), u.Games, u.Actor, u.Why)
}

func (m *Member) key() (string, error) {
	if err := checkName("role", m.Role); err != nil {
		return "", err
	}
	return m.Role + "." + m.Instance, checkName("instance", m.Instance)
}

func parseMember(data []byte) (Member, error) {
	var m Member
	if len(data) > maxRecordBytes {
		return m, fmt.Errorf("%w: member: found %d bytes, expected at most %d", ErrRecord, len(data), maxRecordBytes)
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return m, fmt.Errorf("%w: member: %w", ErrRecord, err)
	}
	if m.Schema < 1 {
		return m, fmt.Errorf("%w: member: found schema %d, expected 1 or more", ErrRecord, m.Schema)
	}
	m.quote()
	_, err := m.key()
	return m, err
}

// quote makes each text a single line, and quotes what a terminal would obey: an actor
// may have written it.
func (m *Member) quote() {
	texts := []*string{&m.Host, &m.Build, &m.State, &m.Net, &m.FailedNet, &m.FailedWhy}
	for i := range m.Excluded {
		texts = append(texts, &m.Excluded[i].Actor, &m.Excluded[i].Why)
	}
	for i := range m.Unverifiable {
		texts = append(texts, &m.Unverifiable[i].Actor, &m.Unverifiable[i].Why)
	}
	for i := range m.Stalled {
		texts = append(texts, &m.Stalled[i].Stage, &m.Stalled[i].Why)
	}
	for _, t := range texts {
		*t = words.Printable(strings.Join(strings.Fields(*t), " "))
	}
}

// Announce tells the others that a process is there, for half a minute.
func (b *Bus) Announce(ctx context.Context, m Member) error {
	key, err := m.key()
	if err != nil {
		return fmt.Errorf("announce: %w", err)
	}
	value, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("announce %s: %w", key, err)
	}
	ctx, cancel := b.bound(ctx)
	defer cancel()
	if _, err := b.roles.Put(ctx, key, value); err != nil {
		return fmt.Errorf("announce %s: %w", key, mapUnavailable(err))
	}
	return nil
}

// Leave tells the others that a process ends.
func (b *Bus) Leave(ctx context.Context, m Member) error {
	key, err := m.key()
	if err != nil {
		return fmt.Errorf("leave: %w", err)
	}
	ctx, cancel := b.bound(ctx)
	defer cancel()
	if err := b.roles.Delete(ctx, key); err != nil {
		return fmt.Errorf("leave %s: %w", key, mapUnavailable(err))
	}
	return nil
}

// Members returns the processes that announced themselves less than half a minute
// ago and did not leave, by role and instance. Records that are damaged, or under the
// key of another process, are left out and logged.
func (b *Bus) Members(ctx context.Context) ([]Member, error) {
	ctx, cancel := b.bound(ctx)
	defer cancel()
	began := time.Now()
	entries, err := current(ctx, b.roles)
	if err != nil {
		return nil, fmt.Errorf("members: %w", mapUnavailable(b.conn.orDenied(began, err)))
	}
	members := make([]Member, 0, len(entries))
	for _, e := range entries {
		m, err := parseMember(e.Value())
		if key, _ := m.key(); err == nil && key != e.Key() { // else who may write one says what others are
			err = fmt.Errorf("%w: member: found %s, expected %s", ErrRecord, key, e.Key())
		}
		if err != nil {
			b.warn("member is left out", "key", e.Key(), "error", err)
			continue
		}
		m.Seen = e.Created()
		members = append(members, m)
	}
	slices.SortFunc(members, func(x, y Member) int {
		return cmp.Or(cmp.Compare(x.Role, y.Role), cmp.Compare(x.Instance, y.Instance))
	})
	return members, nil
}

// current returns the newest value of each key of a bucket.
func current(ctx context.Context, kv jetstream.KeyValue) ([]jetstream.KeyValueEntry, error) {
	w, err := kv.WatchAll(ctx, jetstream.IgnoreDeletes())
	if err != nil {
		return nil, err
	}
	return drainWatch(ctx, w)
}
