package cluster

import (
	"errors"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/crazyhouse-rl/selfplay/bus"
)

// ErrPlan says that a plan cannot be carried out.
var ErrPlan = errors.New("plan of the cluster")

// Schema is the version of a Plan in its file.
const Schema = 1

// Roles that a plan may have, with how many of each work at a time.
var roleNames = []string{"trainer", "replay", "gate", "verify", "actor"}

// Plan says what a cluster consists of.
type Plan struct {
	Schema  int       `json:"schema"`
	Run     string    `json:"run"` // name of the run
	ID      string    `json:"id"`  // of the run, in its subjects
	Servers []Machine `json:"servers"`
	Roles   []Machine `json:"roles"`
	Image   string    `json:"image,omitempty"` // of the program, for containers; empty: DefaultImage
	Store   string    `json:"store,omitempty"` // room of each server, GB or TB, as nats-server reads it; empty: DefaultStore
}

const (
	// DefaultImage is what the program's image is called if a plan does not say.
	DefaultImage = "selfplay:latest"
	// DefaultStore is the room that each server may take on its disk if a plan does not say.
	DefaultStore = "64GB"
)

// Machine is one that a server or a role is to be on.
type Machine struct {
	Name string `json:"name"` // n1; of a role trainer, replay, gate, verify, or actor
	Host string `json:"host"` // name or address by which others reach it; of an actor's machine its name too
}

const maxActorName = 24 // characters, as the setting actor.name has them

var (
	hostName  = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$`)
	imageName = regexp.MustCompile(`^[a-z0-9][a-zA-Z0-9._:/@-]{0,254}$`)
	storeSize = regexp.MustCompile(`^[1-9][0-9]{0,5}(GB|TB)$`)
	shortName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$`)
)

// leastStoreGB is the smallest room of a server that holds a run.
const leastStoreGB = 8

// tooSmall reports whether a size as storeSize has it is below leastStoreGB.
func tooSmall(size string) bool {
	gb, found := strings.CutSuffix(size, "GB")
	n, err := strconv.Atoi(gb)
	return found && err == nil && n < leastStoreGB
}

// ParseMachine reads NAME=HOST.
func ParseMachine(text string) (Machine, error) {
	name, host, found := strings.Cut(text, "=")
	m := Machine{name, host}
	if !found || !shortName.MatchString(name) || !hostName.MatchString(host) && net.ParseIP(host) == nil {
		return m, fmt.Errorf("%w: found %.80q, expected NAME=HOST, such as n1=10.9.0.1", ErrPlan, text)
	}
	return m, nil
}

// Check reports the first thing that is wrong with a plan. The error wraps ErrPlan.
func (p *Plan) Check() error {
	wrong := func(what string, found any, expected string) error {
		return fmt.Errorf("%w: %s: found %v, expected %s", ErrPlan, what, found, expected)
	}
	switch {
	case p.Schema != Schema:
		return wrong("schema", p.Schema, fmt.Sprint(Schema))
	case !shortName.MatchString(p.Run):
		return wrong("run", fmt.Sprintf("%.80q", p.Run), "1 to 32 of a-z, 0-9 and -")
	case !shortName.MatchString(p.ID):
		return wrong("id", fmt.Sprintf("%.80q", p.ID), "1 to 32 of a-z, 0-9 and -")
	case p.Image != "" && !imageName.MatchString(p.Image):
		return wrong("image", fmt.Sprintf("%.80q", p.Image), "the name of an image, such as registry.example/selfplay:v1")
	case p.Store != "" && !storeSize.MatchString(p.Store):
		return wrong("store", fmt.Sprintf("%.80q", p.Store), "a size such as 64GB")
	case tooSmall(p.Store):
		return wrong("store", p.Store, fmt.Sprintf("%dGB or more: the nets of a run alone have room of 4 GiB", leastStoreGB))
	case len(p.Servers) != 1 && len(p.Servers) != 3 && len(p.Servers) != 5:
		return wrong("servers", len(p.Servers), "1, 3 or 5: with an even number one more may fail")
	}
	seen := map[string]bool{}
	for _, m := range append(slices.Clone(p.Servers), p.Roles...) {
		if _, err := ParseMachine(m.Name + "=" + m.Host); err != nil {
			return err
		}
	}
	for _, s := range p.Servers {
		if seen[s.Name] || seen[s.Host] {
			return wrong("servers", s.Name+"="+s.Host+" twice", "names and hosts of their own")
		}
		seen[s.Name], seen[s.Host] = true, true
	}
	inContainers := p.containerHosts()
	for i, host := range inContainers {
		if slices.Contains(inContainers[:i], host) {
			return wrong("servers", host+" in containers twice", "names that differ there too, where nats- is put before one of digits alone")
		}
	}
	users := map[string]bool{}
	for _, m := range p.Roles {
		if !slices.Contains(roleNames, m.Name) {
			return wrong("role", m.Name, strings.Join(roleNames, ", "))
		}
		if users[p.User(m)] {
			return wrong("roles", m.Name+"="+m.Host+" twice", "one actor a machine; actors play --workers games at a time")
		}
		if slices.ContainsFunc(p.Servers, func(s Machine) bool { return s.Name == p.workload(m) }) {
			return wrong("servers", p.workload(m), "another name than those of the roles")
		}
		if users[p.workload(m)] {
			return wrong("roles", m.Name+" at "+m.Host+" and at another host that begins alike", "hosts that differ in their first 40 characters")
		}
		users[p.User(m)], users[p.workload(m)] = true, true
		if m.Name != "actor" {
			continue
		}
		name := "name " + p.ActorName(m)
		if users[name] {
			return wrong("roles", "at "+m.Host+" an actor of the same name as another", "hosts that differ in their first 24 letters and digits")
		}
		users[name] = true
	}
	for _, need := range []string{"trainer", "replay", "gate", "actor"} {
		if !slices.ContainsFunc(p.Roles, func(m Machine) bool { return m.Name == need }) {
			return wrong("roles", "no "+need, "one of trainer, replay and gate, and an actor, at least")
		}
	}
	return nil
}

// User names the user of a role: of an actor with its name, of others on a machine with
// the machine's.
func (p *Plan) User(m Machine) string { return m.Name + "-" + nameOf(m.Host) }

// nameOf turns a host into a name that subjects and files may have.
func nameOf(host string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		if r == '.' || r == ':' {
			return '-'
		}
		return r
	}, strings.ToLower(host)), "-")
}

// ActorName is the name under which the actor of a machine publishes games: the letters
// and digits of its host, at most 24.
func (*Plan) ActorName(m Machine) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(m.Host))
	return name[:min(len(name), maxActorName)]
}

// rights are those of a role's user.
func (p *Plan) rights(m Machine) (bus.Rights, error) {
	return bus.RightsOf(m.Name, p.ID, p.ActorName(m))
}

// URL lists the servers' addresses as --nats takes them.
func (p *Plan) URL() string { return urlOf(p.hosts()) }

// hosts are those of the servers.
func (p *Plan) hosts() (all []string) {
	for _, s := range p.Servers {
		all = append(all, s.Host)
	}
	return all
}

func urlOf(hosts []string) string {
	var all []string
	for _, h := range hosts {
		all = append(all, "tls://"+net.JoinHostPort(h, "4222"))
	}
	return strings.Join(all, ",")
}

// Replicas is how many copies the servers keep.
func (p *Plan) Replicas() int { return min(len(p.Servers), 3) }
