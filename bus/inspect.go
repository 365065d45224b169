package bus

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

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
