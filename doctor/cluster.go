package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
)

const (
	maxClock     = 2 * time.Second // between this machine and the servers
	maxRTT       = time.Second
	certLeft     = 14 * 24 * time.Hour
	monitorWait  = 5 * time.Second
	monitorBytes = 1 << 20
	fullCluster  = 3 // servers, and copies of everything
)

// Servers are those of a cluster and how they are reached.
type Servers struct {
	URL      string   // of one or several, with commas between them
	Monitors []string // addresses for health and figures, http://host:8222; may be empty
	System   string   // file of credentials of the servers' own account; empty: none
	Run      string   // name; empty: no run is looked at
	Options  bus.Options
}

// Cluster checks the servers one by one, and the copies of the registry and the run.
func (r *Report) Cluster(ctx context.Context, s Servers) {
	looked := false
	var names []string // of the servers that have answered
	addresses := strings.Split(s.URL, ",")
	for _, address := range addresses {
		o := s.Options
		o.URL = strings.TrimSpace(address)
		c, err := bus.Open(ctx, o)
		if err != nil {
			r.add(false, "server "+o.URL, err.Error(), "it answers, and is NATS "+bus.NeededVersion+" or newer with JetStream", "start it, or correct the address, the files of secrets or the rights of the user")
			continue
		}
		if name := r.server(o.URL, c, len(addresses)); name != "" {
			names = append(names, name)
		}
		if !looked {
			looked = true
			r.copies(ctx, c, s.Run, len(addresses))
		}
		if err := c.Close(); err != nil {
			r.add(false, "server "+o.URL, err.Error(), "the connection is closed in order", "look at the network")
		}
	}
	const look = "give --system with the user of the servers' own account, or --monitor http://HOST:8222 for each server, or look at its configuration"
	if s.System != "" {
		r.system(ctx, s, len(addresses))
	} else if len(s.Monitors) == 0 {
		r.unknown("sync of the servers", "servers do not say it to clients", "sync_interval: always", look)
	}
	seen := r.monitors(ctx, s.Monitors, names, len(names) == len(addresses))
	if s.System == "" && len(s.Monitors) > 0 {
		for _, name := range names {
			if !slices.Contains(seen, name) {
				r.unknown("server "+name+" sync", "no monitor of it", "sync_interval: always", look)
			}
		}
	}
}

// server looks at one, and returns its name if it answers.
func (r *Report) server(url string, c *bus.Conn, servers int) string {
	what := "server " + url
	f, err := c.Facts()
	if err != nil {
		r.add(false, what, err.Error(), "it answers", "look at the network")
		return ""
	}
	r.add(f.RTT <= maxRTT, what, fmt.Sprintf("%s, version %s, cluster %q, round trip %s", f.Name, f.Version, f.Cluster, timeText(f.RTT)),
		"version "+bus.NeededVersion+" or newer, "+timeText(maxRTT)+" or less", "look at the network between this machine and the server")
	r.add(f.MaxPayload >= bus.NeededPayload, what+" max_payload", bytesText(uint64(max(f.MaxPayload, 0))), bytesText(bus.NeededPayload)+" or more", "max_payload: 1MB in its configuration")
	if servers > 1 {
		r.add(f.Cluster != "", what+" cluster", fmt.Sprintf("%q", f.Cluster), "it is one of a cluster", "give it a cluster block with the routes of the others")
	}
	if !f.TLS {
		r.add(ofThisMachine(url), what+" TLS", "none", "TLS, or a server of this machine", "give the servers certificates: selfplay init cluster makes them")
		return f.Name
	}
	left := time.Until(f.CertUntil)
	r.add(left > certLeft, what+" certificate", fmt.Sprintf("until %s, %d days", f.CertUntil.Format(time.DateOnly), int(left.Hours()/24)),
		fmt.Sprintf("%d days or more", int(certLeft.Hours()/24)), "make new certificates, put them on the servers and have them load them: nats-server --signal reload")
	return f.Name
}

// ofThisMachine reports whether an address is one that only this machine reaches.
func ofThisMachine(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	host := u.Hostname()
	return strings.EqualFold(host, "localhost") || net.ParseIP(host).IsLoopback()
}

// copies looks at the streams, and at the servers' clock, which their answers tell.
func (r *Report) copies(ctx context.Context, c *bus.Conn, run string, servers int) {
	id, want := "", min(servers, fullCluster)
	if run != "" {
		record, err := c.FindRun(ctx, run)
		if err != nil {
			r.add(false, "run "+run, err.Error(), "it is in the servers' registry", "correct the name, or start its trainer")
		}
		id = record.ID
	}
	streams, err := c.RunStreams(ctx, id)
	if err != nil {
		r.add(false, "copies", err.Error(), "the servers answer", "look at the servers' logs; a cluster needs most of its servers")
		return
	}
	for _, s := range streams {
		found := fmt.Sprintf("%d", s.Replicas)
		if len(s.Behind) > 0 {
			found += ", not up to date on " + strings.Join(s.Behind, ", ")
		}
		do := "start the servers that are away, and wait until they have caught up"
		if s.Replicas < want {
			do = "start the trainer once with --set bus.replicas=" + fmt.Sprint(want)
		}
		r.add(s.Replicas >= want && len(s.Behind) == 0, "copies of "+s.Name, found, fmt.Sprintf("%d, all up to date", want), do)
	}
	if len(streams) == 0 {
		r.unknown("clock", "the servers have no run yet, whose answers tell the time", timeText(maxClock)+" or less between this machine and the servers", "look again when a run has begun")
		return
	}
	r.clock(streams[0])
}

// clock compares ours with that of a server, which an answer tells.
func (r *Report) clock(answer bus.StreamFacts) {
	apart := answer.Time.Sub(answer.Asked)
	r.add(apart.Abs() <= maxClock, "clock", fmt.Sprintf("%s from the server's", timeText(apart.Abs())), timeText(maxClock)+" or less apart", "keep the time of all machines by NTP: timedatectl set-ntp true")
}

// varz is what is read of a server's own figures.
type varz struct {
	Name      string `json:"server_name"`
	JetStream struct {
		Config *struct {
			SyncAlways bool  `json:"sync_always"`
			MaxStore   int64 `json:"max_storage"`
		} `json:"config"`
		Stats *struct {
			Store int64 `json:"storage"`
		} `json:"stats"`
	} `json:"jetstream"`
	AuthRequired bool `json:"auth_required"`
}

// monitors looks at the figures that servers give at some addresses, and returns whose they
// are. They have to be of the servers of these names; all says that there are no others.
func (r *Report) monitors(ctx context.Context, addresses, names []string, all bool) (seen []string) {
	for _, address := range addresses {
		what := "monitor " + address
		v, err := readVarz(ctx, address)
		if err != nil {
			r.add(false, what, err.Error(), "it answers at /varz", "give the address of http in the server's configuration, from a machine that may reach it")
			continue
		}
		seen = append(seen, v.Name)
		if !slices.Contains(names, v.Name) {
			expected := "a server that --nats names"
			if len(names) > 0 {
				expected += ", " + strings.Join(names, ", ")
			}
			if all {
				r.add(false, what, "server "+v.Name, expected, "correct the address, or name its server in --nats too")
				continue
			}
			r.unknown(what, "server "+v.Name, expected, "look again when all servers answer")
		}
		r.settings(v)
	}
	return seen
}

// system asks all servers for their settings, as a user of their own account.
func (r *Report) system(ctx context.Context, s Servers, servers int) {
	o := s.Options
	o.URL, o.Creds, o.TokenFile = s.URL, s.System, ""
	answers, err := bus.ServerFigures(ctx, o, servers)
	if err != nil {
		r.add(false, "settings of the servers", err.Error(), "they answer", "give the credentials of a user of the servers' own account, such as system.creds of selfplay init cluster")
		return
	}
	r.figures(answers, servers)
}

// figures looks at what the servers answered of themselves.
func (r *Report) figures(answers [][]byte, servers int) {
	const what = "settings of the servers"
	r.add(len(answers) >= servers, what, fmt.Sprintf("%d servers answered", len(answers)), fmt.Sprintf("%d", servers), "start the servers that are away; the user has to be of their own account")
	for _, text := range answers {
		var a struct {
			Data varz `json:"data"`
		}
		if err := json.Unmarshal(text, &a); err != nil || a.Data.Name == "" {
			r.add(false, what, fmt.Sprintf("an answer without figures (%v)", err), "the figures of a NATS server", "look at the servers' version")
			continue
		}
		r.settings(a.Data)
	}
}

// settings looks at what a server says of itself.
func (r *Report) settings(v varz) {
	what := "server " + v.Name
	js := v.JetStream.Config
	if js == nil {
		r.add(false, what+" JetStream", "not enabled", "enabled", "give it a jetstream block with a store_dir")
		return
	}
	sync := "at intervals"
	if js.SyncAlways {
		sync = "always"
	}
	r.add(js.SyncAlways, what+" sync", sync, "always", "sync_interval: always in its jetstream block: else a power cut loses what it has acknowledged")
	r.add(v.AuthRequired, what+" asks who connects", fmt.Sprint(v.AuthRequired), "true", "give it users or a token: anyone who reaches it can publish games")
	if v.JetStream.Stats != nil && js.MaxStore > 0 {
		used := uint64(max(v.JetStream.Stats.Store, 0))
		r.add(used*10 <= uint64(js.MaxStore)*9, what+" store", fmt.Sprintf("%s of %s", bytesText(used), bytesText(uint64(js.MaxStore))), "90 % full at most", "raise max_file_store, or take less room for games: bus.max_bytes")
	}
}

// readVarz asks a server's address for figures.
func readVarz(ctx context.Context, address string) (v varz, err error) {
	ctx, cancel := context.WithTimeout(ctx, monitorWait)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(address, "/")+"/varz", nil)
	if err != nil {
		return v, err
	}
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		return v, err
	}
	defer a.Body.Close()
	if a.StatusCode != http.StatusOK {
		return v, fmt.Errorf("found status %s, expected 200", a.Status)
	}
	text, err := io.ReadAll(io.LimitReader(a.Body, monitorBytes))
	if err != nil {
		return v, err
	}
	if err := json.Unmarshal(text, &v); err != nil || v.Name == "" {
		return v, errors.Join(errors.New("found no figures of a NATS server"), err)
	}
	return v, nil
}
