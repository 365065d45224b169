package bus

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/crazyhouse-rl/selfplay/nets"
)

// Errors of this package. They come wrapped; test with errors.Is.
var (
	ErrFull      = errors.New("no room left")                // in a stream until games are acknowledged, in the store of nets, on the disk
	ErrTooLarge  = errors.New("message is too large")        // above MaxPayload
	ErrName      = errors.New("bad name")                    // a run, actor, id or key with characters a subject cannot hold
	ErrNoNet     = errors.New("no such net")                 // GetNet, NetManifest, DeleteNet
	ErrNoFile    = errors.New("no such file")                // GetFile
	ErrCorrupt   = errors.New("content does not match hash") // PutNet, GetNet
	ErrNoPointer = errors.New("no such pointer")             // Pointer
	ErrConflict  = errors.New("changed by another writer")   // SetPointer, UpdateRun
	ErrConfig    = errors.New("bus configuration")           // Open, Join
	ErrMissing   = errors.New("the server does not have it") // Join with Look
	ErrNoRun     = errors.New("no such run")                 // FindRun, UpdateRun
	ErrRunExists = errors.New("run exists already")          // CreateRun
	ErrProtocol  = errors.New("protocol is not understood")  // Join

	ErrNoLease = errors.New("nobody has held this lease")          // ReadLease
	ErrFenced  = errors.New("lease was lost to another holder")    // Lease.SetPointer, Lease.Touch, Lease.Release
	ErrNobody  = errors.New("nobody answers for this service")     // Ask
	ErrRecord  = errors.New("record on the bus is not understood") // Lease, ReadLease, Members, FindRun, Runs

	// ErrUnavailable says that the server did not answer, or cannot now. What was
	// asked may have been done.
	ErrUnavailable = errors.New("server is not available")

	// ErrNoPlace says that the servers of a cluster find no place for the copies that were
	// asked for: there are too few servers, or they do not know yet what room there is on
	// each, as in the first seconds after they were started.
	ErrNoPlace = errors.New("the servers find no place for all copies")

	ErrUnreachable = errors.New("no connection to a server")  // Open
	ErrServer      = errors.New("this server cannot be used") // Open
)

const (
	// MaxPayload is the largest message of games in bytes. The server's own limit is
	// 1 MiB for the whole message; the rest is for headers.
	MaxPayload = 900 << 10

	// DefaultMaxBytes is the room for games in a new stream if JoinOptions do
	// not say.
	DefaultMaxBytes = 2 << 30

	// DefaultNetsBytes is the room for nets and other files if JoinOptions do
	// not say.
	DefaultNetsBytes = 4 << 30

	// DefaultDuplicateWindow is how long the server remembers game ids if
	// JoinOptions do not say.
	DefaultDuplicateWindow = 2 * time.Hour

	requestWait   = 5 * time.Second  // for one request: a lost connection loses its answer
	embeddedWait  = time.Minute      // likewise of a server inside this process, which is late at worst
	pointerPoll   = 10 * time.Second // a watch that went silent is noticed after this
	watchReopen   = time.Second      // between attempts to watch again
	maxReplicas   = 5
	rejectMaxAge  = 7 * 24 * time.Hour
	rejectMaxSize = 64 << 20
)

// JoinOptions say how the objects of a run are made if they are missing.
type JoinOptions struct {
	MaxBytes        int64         // room of the game stream in bytes; 0: as it is, DefaultMaxBytes for a new one
	NetsBytes       int64         // room for nets in bytes; 0: as it is, DefaultNetsBytes for a new store and one without a limit
	DuplicateWindow time.Duration // how long game ids are remembered; 0: as it is, DefaultDuplicateWindow for a new one
	LeaseTTL        time.Duration // a lease that was not renewed for this long is free; the same for all roles of a run; 0: DefaultLeaseTTL
	Replicas        int           // copies of everything in a cluster, 1, 3 or 5; 0: as it is, 1 for what is new
	Begun           bool          // what another role is making is waited for: ErrUnavailable until all of it is there
	Look            bool          // nothing is made or changed: ErrMissing if a part is not there
}

// validate reports the first thing in o that cannot work.
func (o *JoinOptions) validate() error {
	switch {
	case o.MaxBytes < 0:
		return fmt.Errorf("%w: room for games of %d bytes: want none or more", ErrConfig, o.MaxBytes)
	case o.NetsBytes < 0:
		return fmt.Errorf("%w: room for nets of %d bytes: want none or more", ErrConfig, o.NetsBytes)
	case o.DuplicateWindow < 0:
		return fmt.Errorf("%w: duplicate window of %v: want none or more", ErrConfig, o.DuplicateWindow)
	case o.LeaseTTL < 0:
		return fmt.Errorf("%w: leases of %v: want none or more", ErrConfig, o.LeaseTTL)
	case o.Replicas < 0 || o.Replicas > maxReplicas:
		return fmt.Errorf("%w: %d replicas: want 1 to %d", ErrConfig, o.Replicas, maxReplicas)
	}
	return nil
}

// Bus is one run on the server of a Conn, and ends with it. Its methods may
// be called from several goroutines; Games and AckGames belong to one
// ingester.
type Bus struct {
	conn *Conn
	id   string // of the run
	opt  JoinOptions
	js   jetstream.JetStream

	objects
	joined jetstream.StreamConfig // of the game stream, as it was then

	consumer gameConsumer
	stream   streamIdentity
	netsMu   sync.Mutex // one PutNet at a time: look, then store
}

// name is what a run and its id look like.
var name = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// checkRunName accepts a run's name or id.
func checkRunName(what, s string) error {
	if !name.MatchString(s) {
		return fmt.Errorf("%w: %s %.80q: want 1 to 64 letters, digits, '-' or '_'", ErrName, what, s)
	}
	return nil
}

// Join makes sure that the objects of the run with the given id exist, or with Look
// finds them, and returns the bus of the run. The error wraps ErrProtocol if the registry
// knows the run and this build does not understand its protocol, ErrName or
// ErrConfig if an argument cannot work, ErrMissing if Look does not find an object,
// ErrUnavailable if the server does not answer now.
func (c *Conn) Join(ctx context.Context, id string, o JoinOptions) (*Bus, error) {
	b := &Bus{conn: c, id: id, opt: o, js: c.js}
	if err := b.join(ctx); err != nil {
		return nil, fmt.Errorf("join run %.80q: %w", id, err)
	}
	b.warnOfSmallDisk()
	c.mu.Lock()
	defer c.mu.Unlock()
	if !o.Look { // who looked first, to see what there is, goes on with this one
		c.joined = slices.DeleteFunc(c.joined, func(old *Bus) bool { return old.id == id && old.opt.Look })
	}
	c.joined = append(c.joined, b)
	return b, nil
}

// Make makes sure of the objects of the run with the given id as Join does, without joining
// it: the sizes of o are given now, and not again when a lost connection is back.
func (c *Conn) Make(ctx context.Context, id string, o JoinOptions) error {
	b := &Bus{conn: c, id: id, opt: o, js: c.js}
	if err := b.join(ctx); err != nil {
		return fmt.Errorf("make run %.80q: %w", id, err)
	}
	return nil
}

func (b *Bus) join(ctx context.Context) error {
	if err := checkRunName("run id", b.id); err != nil {
		return err
	}
	if err := b.opt.validate(); err != nil {
		return err
	}
	if err := b.conn.checkProtocol(ctx, b.id); err != nil {
		return err
	}
	if b.opt.Begun {
		// The last that is made. Who knows no sizes would make what is missing larger
		// than the run wants it, perhaps than the server has room for.
		if _, err := b.js.Stream(ctx, "KV_"+b.rolesName()); err != nil {
			return fmt.Errorf("bucket %s: %w", b.rolesName(), mapUnavailable(err))
		}
	}
	objects, err := b.makeObjects(ctx)
	if err != nil {
		return mapUnavailable(mapFull(err, "the server's store"))
	}
	b.objects, b.joined = objects, objects.games.CachedInfo().Config
	if b.opt.Replicas > 1 {
		if _, err := b.conn.registry(ctx, b.opt.Replicas); err != nil {
			return fmt.Errorf("bucket %s: %w", registryName, mapUnavailable(err))
		}
	}
	return nil
}

func (b *Bus) warn(msg string, args ...any) { b.conn.warn(msg, args...) }

// bound limits one request that the server itself answers.
func (b *Bus) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	return b.conn.bound(ctx)
}

// mapUnavailable adds ErrUnavailable to the errors of a server that is away or whose answer
// cannot be read, and ErrNoPlace to those of servers that find no place for copies.
func mapUnavailable(err error) error {
	var api *jetstream.APIError
	var watched *nats.APIError // the client's watches of buckets speak by its older interface
	switch {
	case errors.Is(err, ErrUnavailable):
		return err
	case errors.Is(err, nats.ErrTimeout), errors.Is(err, nats.ErrNoResponders), errors.Is(err, jetstream.ErrNoStreamResponse),
		errors.Is(err, nats.ErrDisconnected), errors.Is(err, nats.ErrReconnectBufExceeded), errors.Is(err, nats.ErrConnectionReconnecting),
		errors.Is(err, context.DeadlineExceeded),
		errors.Is(err, jetstream.ErrStreamNotFound), errors.Is(err, nats.ErrStreamNotFound), errors.Is(err, jetstream.ErrBucketNotFound): // wiped, until Ensure
	case errors.As(err, &api) && (api.Code == 503 || api.ErrorCode == codeStreamOffline):
	case errors.As(err, &watched) && watched.Code == 503:
	case errors.As(err, &api) && api.ErrorCode == codeNoPeers && strings.Contains(api.Description, peerOffline): // until they have met
	case errors.As(err, &api) && api.ErrorCode == codeNoPeers:
		return fmt.Errorf("%w: %w", ErrNoPlace, err)
	case garbled(err):
	default:
		return err
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, err)
}

// garbled reports whether an error is of an answer of the server that cannot be read, such as
// one of which a bit was flipped on its way. Asked again it answers well. What others have
// written and the server has kept is another matter.
func garbled(err error) bool {
	if errors.Is(err, ErrRecord) || errors.Is(err, nets.ErrManifest) {
		return false
	}
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	var encoding base64.CorruptInputError
	return errors.As(err, &syntax) || errors.As(err, &kind) || errors.As(err, &encoding) ||
		errors.Is(err, jetstream.ErrInvalidJSAck) || errors.Is(err, jetstream.ErrBadObjectMeta)
}
