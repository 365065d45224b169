package bus

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// ServerFacts are what the server of a connection says of itself, and what the
// connection shows of it.
type ServerFacts struct {
	Name       string
	Version    string
	Cluster    string        // name; empty: it is alone
	Peers      []string      // addresses of the cluster's servers that it tells clients
	RTT        time.Duration // of an empty message
	MaxPayload int64         // bytes of the largest message
	TLS        bool
	CertUntil  time.Time // when its certificate expires; zero without TLS
}

// NeededVersion is the oldest version of a server that Open accepts.
const NeededVersion = neededVersion

// NeededPayload is the least that a server's max_payload has to be: MaxPayload and room
// for headers.
const NeededPayload = 1 << 20

// Facts returns what is known of the server that c is connected to. The error wraps
// ErrUnavailable if it does not answer.
func (c *Conn) Facts() (f ServerFacts, err error) {
	f = ServerFacts{
		Name: c.nc.ConnectedServerName(), Version: c.nc.ConnectedServerVersion(), Cluster: c.nc.ConnectedClusterName(),
		Peers: c.nc.DiscoveredServers(), MaxPayload: c.nc.MaxPayload(),
	}
	if state, err := c.nc.TLSConnectionState(); err == nil && len(state.PeerCertificates) > 0 {
		f.TLS, f.CertUntil = true, state.PeerCertificates[0].NotAfter
	}
	if f.RTT, err = c.nc.RTT(); err != nil {
		return f, fmt.Errorf("round trip: %w", mapUnavailable(err))
	}
	return f, nil
}

// answersWait is how long servers may take to answer what all are asked.
const answersWait = 5 * time.Second

// ServerFigures asks the n servers of a cluster for their own figures and settings, as a user of
// the servers' account, whom o.Creds names. It returns what each answers, JSON as of /varz
// under the key data, of those that answer within 5 s. Errors are as of Open.
func ServerFigures(ctx context.Context, o Options, n int) (answers [][]byte, err error) {
	c := &Conn{opt: o, refused: make(chan error, 1)}
	c.failures.warn = c.warn
	c.ctx, c.cancel = context.WithCancel(context.Background())
	defer func() { err = errors.Join(err, c.Close()) }()
	opts, err := c.natsOptions()
	if err != nil {
		return nil, err
	}
	if c.nc, err = nats.Connect(o.URL, opts...); err != nil {
		return nil, connectError(err, nil, expired(o.Creds))
	}
	inbox := c.nc.NewInbox()
	sub, err := c.nc.SubscribeSync(inbox)
	if err == nil {
		err = c.nc.PublishRequest("$SYS.REQ.SERVER.PING.VARZ", inbox, nil)
	}
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, answersWait)
	defer cancel()
	for len(answers) < n {
		m, err := sub.NextMsgWithContext(ctx)
		if errors.Is(err, context.DeadlineExceeded) {
			return answers, nil
		}
		if err != nil {
			return answers, err
		}
		answers = append(answers, m.Data)
	}
	return answers, nil
}

// StreamFacts are what the servers say of a stream's copies.
type StreamFacts struct {
	Name     string
	Replicas int       // copies asked for
	Leader   string    // server; empty: none is chosen, or the server is alone
	Behind   []string  // servers whose copies are not up to date or away
	Time     time.Time // by the server's clock, when it answered
	Asked    time.Time // by ours, halfway between the question and the answer
}

// RunStreams returns the streams of a run, the registry first; only that with an empty
// id. Streams that are not there are left out.
func (c *Conn) RunStreams(ctx context.Context, id string) ([]StreamFacts, error) {
	b := &Bus{id: id}
	names := []string{"KV_" + registryName}
	if id != "" {
		names = append(names, b.gamesName(), b.rejectsName(), "KV_"+b.ctlName(), "KV_"+b.rolesName(), "OBJ_"+b.netsName())
	}
	var all []StreamFacts
	for _, name := range names {
		f, err := c.streamFacts(ctx, name)
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			continue
		}
		if err != nil {
			return all, fmt.Errorf("stream %s: %w", name, mapUnavailable(err))
		}
		all = append(all, f)
	}
	return all, nil
}

func (c *Conn) streamFacts(ctx context.Context, name string) (f StreamFacts, err error) {
	ctx, cancel := c.bound(ctx)
	defer cancel()
	before := time.Now()
	s, err := c.js.Stream(ctx, name)
	if err != nil {
		return f, err
	}
	info := s.CachedInfo()
	f = StreamFacts{Name: strings.TrimPrefix(name, "KV_"), Replicas: info.Config.Replicas, Time: info.TimeStamp, Asked: before.Add(time.Since(before) / 2)}
	if info.Cluster != nil {
		f.Leader = info.Cluster.Leader
		for _, p := range info.Cluster.Replicas {
			if !p.Current || p.Offline {
				f.Behind = append(f.Behind, p.Name)
			}
		}
	}
	return f, nil
}
