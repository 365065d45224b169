package selfplay

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"io/fs"
	gonet "net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/internal/dirlock"
	"github.com/crazyhouse-rl/selfplay/internal/durable"
	"github.com/crazyhouse-rl/selfplay/internal/secret"
	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/replay"
)

// ServerStateSchema is the version of ServerState.
const ServerStateSchema = 1

// ServerState is what a run's servers know that is worth keeping, but for games and files.
type ServerState struct {
	Schema int           `json:"schema"` // ServerStateSchema
	Run    bus.RunRecord `json:"run"`
	// Pointers are their values by key, oldest first, as far as servers keep them; of the
	// settings the present ones, which say those before them.
	Pointers map[string][]string `json:"pointers"`
	Nets     []string            `json:"nets"` // ids, sorted
}

// ServerReader reads what the servers of a run know, while the run goes on. It changes
// nothing.
type ServerReader struct {
	run    *Run
	record bus.RunRecord
	dir    string // of the run; empty: none
	// From says where the state comes from, for people.
	From string
}

// ReadServers opens the state of the run in dir, or with an empty dir of the run that cfg
// names on cfg's servers. Of a run whose server is inside another process and closed to
// others, what its directory says is read: that is at most a minute old.
func ReadServers(ctx context.Context, dir string, cfg configs.Config, o Options) (*ServerReader, error) {
	o.Role = "backup"
	r := newRun(dir, cfg, o)
	s := &ServerReader{run: r, dir: dir}
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return s, nil
}

func (s *ServerReader) open(ctx context.Context) (err error) {
	r := s.run
	if r.cfg.Bus.URL != "" {
		return s.look(ctx)
	}
	if r.owner, err = dirlock.Acquire(r.dir); err == nil { // the run is stopped
		if _, err := os.Stat(r.path(busDir)); err == nil {
			return s.openStopped(ctx)
		}
		s.From = "the directory"
		return s.takeDirectory()
	}
	if !errors.Is(err, dirlock.ErrHeld) {
		return err
	}
	if address, ok := localAddress(r.cfg.Bus.Listen); ok {
		r.cfg.Bus.URL, r.cfg.Bus.Listen = address, ""
		return s.look(ctx)
	}
	s.From = "the directory, as the server of the running process is closed to others"
	return s.takeDirectory()
}

// look connects to the servers of cfg. A directory has to be one of the run there: what is
// read of both is to be of one run.
func (s *ServerReader) look(ctx context.Context) (err error) {
	s.From = "the servers"
	if s.dir == "" {
		s.record, err = s.run.look(ctx)
		return err
	}
	id, err := directoryIdentity(s.dir)
	if err == nil {
		s.run.cfg.Run.Name = cmp.Or(s.run.cfg.Run.Name, id.Name)
		s.record, err = s.run.look(ctx)
	}
	if err == nil && id.ID != s.record.ID {
		err = fmt.Errorf("%s belongs to run %s with id %s, expected run %s with id %s, which the servers have: give the directory of that run, or the --nats and --run of this one", s.dir, id.Name, id.ID, s.record.Name, s.record.ID)
	}
	return err
}

// directoryIdentity reads run.json of a directory, which has to be one of a run.
func directoryIdentity(dir string) (identity, error) {
	id, found, err := readIdentity(dir)
	if err == nil && !found {
		err = fmt.Errorf("%s: found no run, expected the directory of one", dir)
	}
	return id, err
}

// NamedBy returns cfg with the name of the run in dir, unless it names one or dir is empty.
func NamedBy(dir string, cfg configs.Config) (configs.Config, error) {
	if cfg.Run.Name != "" || dir == "" {
		return cfg, nil
	}
	id, err := directoryIdentity(dir)
	cfg.Run.Name = id.Name
	return cfg, err
}

func (s *ServerReader) openStopped(ctx context.Context) error {
	r := s.run
	r.cfg.Bus.Listen, r.listened = "", r.cfg.Bus.Listen != ""
	if err := s.takeDirectory(); err != nil {
		return err
	}
	s.From = "the server's files"
	if err := r.connect(ctx); err != nil {
		return err
	}
	if err := r.join(ctx, bus.JoinOptions{}); err != nil {
		return err
	}
	record, err := r.conn.FindRun(ctx, r.identity.Name)
	if errors.Is(err, bus.ErrNoRun) { // of an earlier build
		return nil
	}
	s.record = record
	return err
}

// takeDirectory learns from the directory what the run is.
func (s *ServerReader) takeDirectory() error {
	r := s.run
	if _, err := os.Stat(r.path(stateFile)); errors.Is(err, fs.ErrNotExist) && r.cfg.Run.ID != "" { // a copy of servers alone
		r.identity.Name, r.identity.ID = r.cfg.Run.Name, r.cfg.Run.ID
		return nil
	}
	id, err := directoryIdentity(r.dir)
	if err != nil {
		return err
	}
	r.identity = id
	s.record = bus.RunRecord{Schema: bus.RunSchema, Name: id.Name, ID: id.ID, Variant: r.cfg.Variant, Kind: r.cfg.Net.Kind,
		PublicKey: id.PublicKey, Build: id.Build, Protocol: id.protocol()}
	return nil
}

// localAddress is how to reach from this machine who listens at an address.
func localAddress(listen string) (url string, ok bool) {
	host, port, err := gonet.SplitHostPort(listen)
	if err != nil || port == "0" {
		return "", false
	}
	if ip := gonet.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "nats://" + gonet.JoinHostPort(host, port), true
}

// Close gives the connection back.
func (s *ServerReader) Close() error { return s.run.Close() }

// Connected reports whether a server answers: of others only State and the spool can be read.
func (s *ServerReader) Connected() bool { return s.run.bus != nil }

// State returns all but games and files.
func (s *ServerReader) State(ctx context.Context) (ServerState, error) {
	state := ServerState{Schema: ServerStateSchema, Run: s.record}
	if !s.Connected() {
		kept, err := s.run.readPointers()
		if err != nil {
			return state, err
		}
		state.Pointers = kept.histories()
		return state, s.directorySettings(state.Pointers)
	}
	err := s.run.forAWhile(ctx, func(ctx context.Context) error {
		histories, err := s.run.bus.PointerHistories(ctx)
		if err == nil {
			state.Nets, err = s.run.bus.ListNets(ctx)
		}
		state.Pointers = valuesOf(histories)
		return err
	})
	if err != nil {
		return state, err
	}
	for _, key := range []string{configKey, settingsKey} {
		if all := state.Pointers[key]; len(all) > 1 {
			state.Pointers[key] = all[len(all)-1:]
		}
	}
	return state, nil
}

// Outdate makes the list of settings of a state that comes from a backup one with gaps: the
// run may have had others since, and nobody is to be accused of those.
func (s *ServerState) Outdate() {
	for i, value := range s.Pointers[settingsKey] {
		list, err := parseSettings([]byte(value), settingsKey)
		if err != nil { // who reads it says so
			continue
		}
		list.Whole = false
		if text, err := list.encode(); err == nil {
			s.Pointers[settingsKey][i] = string(text)
		}
	}
}

// directorySettings adds the list of settings that the directory has; the settings
// themselves follow from its configuration at the next start.
func (s *ServerReader) directorySettings(pointers map[string][]string) error {
	text, err := durable.ReadSummed(s.run.path(settingsFile), settingsRemedy)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	pointers[settingsKey] = []string{strings.TrimSuffix(string(text), "\n")}
	return nil
}

// Games calls visit with the games that are finished and not in the replay buffer, as
// messages of the game stream: those of the directory's spool, then those of the stream.
// A game may come in both.
func (s *ServerReader) Games(ctx context.Context, visit func(bus.PendingMessage) error) error {
	if s.dir != "" {
		if err := s.spooled(visit); err != nil {
			return err
		}
	}
	if !s.Connected() {
		return nil
	}
	return s.run.bus.VisitPending(ctx, visit)
}

// spooled visits the games of the spool, signed as the actor would sign them.
func (s *ServerReader) spooled(visit func(bus.PendingMessage) error) error {
	dir := s.run.path(spoolDir)
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	key, name, err := s.actorKey()
	if err != nil {
		return err
	}
	return eachSpooled(dir, func(id string, e fs.DirEntry) error {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if errors.Is(err, fs.ErrNotExist) { // it is on replay's disk by now
			return nil
		}
		if err != nil {
			return err
		}
		if key != nil {
			data = game.Seal(data, key)
		}
		// A game of a name that the actor had before is taken from that name alone.
		sender := cmp.Or(replay.ActorOf(id, s.run.id()), name)
		return visit(bus.PendingMessage{Actor: sender, ID: id, Data: data})
	})
}

// actorKey returns the name of the directory's actor, and the key that signs its games, if
// games of the run are signed.
func (s *ServerReader) actorKey() (ed25519.PrivateKey, string, error) {
	text, err := secret.ReadFile(s.run.path(actorFile))
	if errors.Is(err, fs.ErrNotExist) { // games of an earlier build
		return nil, localActor, nil
	}
	if err != nil {
		return nil, "", err
	}
	var a actorIdentity
	if err := a.parse(s.run.path(actorFile), text); err != nil {
		return nil, "", err
	}
	if !s.run.signed() {
		return nil, a.Name, nil
	}
	return a.key(), a.Name, nil
}

// Rejects returns the quarantined games that the servers keep, oldest first.
func (s *ServerReader) Rejects(ctx context.Context) ([]bus.Rejected, error) {
	if !s.Connected() {
		return nil, nil
	}
	all, err := s.run.bus.Rejects(ctx, maxRejects)
	slices.Reverse(all)
	return all, err
}

// maxRejects is how many quarantined games are read.
const maxRejects = 4096

// Net returns the manifest of a net that the servers have, and writes the net to w.
func (s *ServerReader) Net(ctx context.Context, id string, w io.Writer) (nets.Manifest, error) {
	m, err := s.run.bus.NetManifest(ctx, id)
	if err != nil {
		return m, err
	}
	return m, s.run.bus.GetNet(ctx, id, w)
}

// BookOf returns the id of the book of a state's settings, empty if there is none.
func (s *ServerState) BookOf() string {
	values := s.Pointers[configKey]
	if len(values) == 0 {
		return ""
	}
	cfg, err := configs.Preset("laptop")
	if err == nil {
		cfg, err = configs.WithShared(cfg, []byte(values[len(values)-1]), "settings of the run")
	}
	id, shared := strings.CutPrefix(cfg.Actor.Book, bookPrefix)
	if err != nil || !shared || !bookID.MatchString(id) {
		return ""
	}
	return id
}

// Book writes a book that the servers have to w.
func (s *ServerReader) Book(ctx context.Context, id string, w io.Writer) error {
	return s.run.bus.GetFile(ctx, id, w)
}

// MirrorGames brings the games that the replay role of the servers has in its window, and
// those held out, into a replay buffer in dir, which keeps what it has of them.
func (s *ServerReader) MirrorGames(ctx context.Context, dir string) (err error) {
	r := s.run
	values, err := s.run.bus.Pointer(ctx, configKey)
	if err != nil {
		return err
	}
	if r.cfg, err = configs.WithShared(r.cfg, []byte(values.Value), "settings of the run"); err != nil {
		return err
	}
	if r.variant, err = chess.ParseVariant(r.cfg.Variant); err != nil {
		return err
	}
	buffer, err := replay.Open(dir, replayOptions(r.variant, r.cfg.Replay, r.id()))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, buffer.Close()) }()
	m, err := replay.NewMirror(buffer, r.askWindow)
	if err != nil {
		return err
	}
	for {
		all, err := m.Step(ctx)
		if err != nil || all && (m.Whole() || m.Stats().Games == 0) {
			return err
		}
	}
}
