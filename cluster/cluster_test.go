package cluster

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"

	"github.com/crazyhouse-rl/selfplay/internal/secret"
)

var testTime = time.Now()

func testPlan() Plan {
	return Plan{
		Schema: Schema, Run: "crazyhouse", ID: "abc123",
		Servers: []Machine{{"n1", "s1"}, {"n2", "s2"}, {"n3", "s3"}},
		Roles:   []Machine{{"trainer", "t1"}, {"replay", "t1"}, {"gate", "g1"}, {"verify", "g1"}, {"actor", "a1"}, {"actor", "a2"}},
	}
}

func write(t *testing.T, dir string, p Plan, o Options) {
	t.Helper()
	if o.Now.IsZero() {
		o.Now = testTime
	}
	if err := Write(dir, p, o); err != nil {
		t.Fatal(err)
	}
}

// tree are the files of a directory with their content.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, relErr := filepath.Rel(dir, path)
		all[filepath.ToSlash(name)] = string(text)
		return errors.Join(err, relErr)
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// The configuration of every server is one to the server's own parser, with what the
// plan asks for; the files that it names are there.
func TestServersConfiguration(t *testing.T) {
	for _, n := range []int{1, 3} {
		dir := t.TempDir()
		p := testPlan()
		p.Servers = p.Servers[:n]
		for i, name := range []string{"1", "true", "5g"}[:n] { // which no quotes would make something else of
			p.Servers[i].Name = name
		}
		write(t, dir, p, Options{})
		for _, s := range p.Servers {
			etc := filepath.Join(dir, "machines", s.Host, "etc", "nats")
			path := filepath.Join(etc, "local.conf")
			text, err := os.ReadFile(filepath.Join(etc, "nats.conf"))
			if err == nil { // /etc/nats of that machine
				err = os.WriteFile(path, []byte(strings.ReplaceAll(string(text), "/etc/nats", etc)), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			o, err := server.ProcessConfigFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if o.ServerName != s.Name || !o.JetStream || !o.SyncAlways || o.JetStreamMaxStore != 64<<30 || o.MaxPayload != 1<<20 || o.TLSConfig == nil ||
				len(o.TrustedOperators) != 1 || o.SystemAccount == "" || o.HTTPHost != "127.0.0.1" {
				t.Errorf("server %s: found name %s, JetStream %v, sync %v, store %d, payload %d, operators %d, system %q, monitor at %q", s.Name,
					o.ServerName, o.JetStream, o.SyncAlways, o.JetStreamMaxStore, o.MaxPayload, len(o.TrustedOperators), o.SystemAccount, o.HTTPHost)
			}
			if n == 3 && (len(o.Routes) != 3 || o.Cluster.TLSConfig == nil || o.Cluster.Name != "selfplay") || n == 1 && len(o.Routes) != 0 {
				t.Errorf("server %s of %d: found routes %v", s.Name, n, o.Routes)
			}
		}
	}
}

// Secrets are for their owner, keys are on no machine, and machines have their own
// files only.
func TestFilesAndModes(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, testPlan(), Options{})
	files := tree(t, dir)
	for name := range files {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		isSecret := slices.Contains([]string{".key", ".nk", ".creds"}, filepath.Ext(name))
		if isSecret != (info.Mode().Perm() == 0o600) {
			t.Errorf("%s has mode %04o", name, info.Mode().Perm())
		}
		if strings.HasPrefix(name, "machines/") && (strings.Contains(name, "ca.key") || strings.HasSuffix(name, ".nk")) {
			t.Errorf("%s is on a machine", name)
		}
	}
	for _, name := range []string{
		"README.md", PlanFile, "ca.pem", "operator.creds", "system.creds", "keys/operator.nk", "keys/account.nk", "keys/ca.key",
		"machines/s2/etc/nats/server.key", "machines/s3/etc/systemd/system/nats-server.service",
		"machines/t1/etc/selfplay/trainer.creds", "machines/t1/etc/selfplay/replay.creds", "machines/a2/etc/selfplay/actor.creds", "machines/a2/etc/selfplay/ca.pem",
	} {
		if files[name] == "" {
			t.Errorf("found no %s", name)
		}
	}
	for name, want := range map[string]string{
		"machines/t1/etc/systemd/system/selfplay-trainer.service": "--set run.id=abc123 --set bus.replicas=3",
		"machines/a2/etc/systemd/system/selfplay-actor.service":   "selfplay actor --nats tls://s1:4222,tls://s2:4222,tls://s3:4222 --run crazyhouse --dir /var/lib/selfplay/actor --creds /etc/selfplay/actor.creds --tls-ca /etc/selfplay/ca.pem --metrics 0.0.0.0:9105 --set actor.name=a2",
		"README.md": "| `t1` | trainer, replay |",
	} {
		if !strings.Contains(files[name], want) {
			t.Errorf("%s: found\n%s\nexpected %q", name, files[name], want)
		}
	}
	if files["machines/a1/etc/selfplay/actor.creds"] == files["machines/a2/etc/selfplay/actor.creds"] {
		t.Error("two actors have the same user")
	}
}

// user is the public key of a user.
func user(t *testing.T, creds string) string {
	t.Helper()
	token, err := jwt.ParseDecoratedJWT([]byte(creds))
	if err != nil {
		t.Fatal(err)
	}
	claims, err := jwt.DecodeUserClaims(token)
	if err != nil {
		t.Fatal(err)
	}
	return claims.Subject
}

// Written again, a cluster keeps its keys, its users and its certificate; an actor more
// changes nothing that the others have.
func TestWrittenAgain(t *testing.T) {
	dir := t.TempDir()
	p := testPlan()
	write(t, dir, p, Options{})
	before := tree(t, dir)
	p.Roles = append(p.Roles, Machine{"actor", "10.9.0.7"})
	write(t, dir, p, Options{})
	after := tree(t, dir)
	for name, text := range before {
		switch {
		case name == PlanFile, name == "README.md", name == composeFile, name == "kustomization.yaml", name == "kubernetes/roles.yaml", strings.HasPrefix(name, monitoringDir):
		case text != after[name]:
			t.Errorf("%s has changed", name)
		}
	}
	if after["machines/10.9.0.7/etc/selfplay/actor.creds"] == "" {
		t.Error("the new actor has no credentials")
	}
	if q, found, err := ReadPlan(dir); err != nil || !found || len(q.Roles) != 7 {
		t.Errorf("the plan is %+v, %v, %v", q, found, err)
	}
}

func TestCertificatesAreRenewed(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, testPlan(), Options{})
	certificate := func() string { return tree(t, dir)["machines/s1/etc/nats/server.pem"] }
	authority := tree(t, dir)["ca.pem"]
	first := certificate()
	write(t, dir, testPlan(), Options{Now: testTime.AddDate(0, 0, serverDays-40)})
	if certificate() != first {
		t.Error("a certificate good for 40 days was renewed")
	}
	write(t, dir, testPlan(), Options{Now: testTime.AddDate(0, 0, serverDays-20)})
	second := certificate()
	if second == first {
		t.Error("a certificate good for 20 days was not renewed")
	}
	write(t, dir, testPlan(), Options{Now: testTime.AddDate(0, 0, serverDays-20), RenewTLS: true})
	if certificate() == second {
		t.Error("--renew-tls did not renew")
	}
	p := testPlan()
	p.Servers[1].Host = "elsewhere"
	third := certificate()
	write(t, dir, p, Options{Now: testTime.AddDate(0, 0, serverDays-20)})
	if certificate() == third {
		t.Error("a server has another name, and the certificate was not renewed")
	}
	// A crash between the key and the certificate leaves halves of two.
	key := filepath.Join(dir, "keys", "server.key")
	if err := os.WriteFile(key, []byte(tree(t, dir)["keys/ca.key"]), 0o600); err != nil {
		t.Fatal(err)
	}
	write(t, dir, p, Options{})
	if tree(t, dir)["ca.pem"] != authority {
		t.Error("the authority was replaced")
	}

	// The authority is never made anew while a half of it is there.
	if err := os.Remove(filepath.Join(dir, "keys", "ca.key")); err != nil {
		t.Fatal(err)
	}
	err := Write(dir, p, Options{Now: testTime})
	if err == nil || !strings.Contains(err.Error(), "put the file back") || tree(t, dir)["ca.pem"] != authority {
		t.Errorf("without the authority's key: %v", err)
	}
}

func TestBadFilesAreRefused(t *testing.T) {
	for name, text := range map[string]string{"keys/account.nk": "word", "machines/a1/etc/selfplay/actor.creds": "word", "cluster.json": "{"} {
		dir := t.TempDir()
		write(t, dir, testPlan(), Options{})
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, _, err := ReadPlan(dir)
		if name != PlanFile {
			err = Write(dir, testPlan(), Options{Now: testTime})
		}
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	dir := t.TempDir()
	write(t, dir, testPlan(), Options{})
	if err := os.Chmod(filepath.Join(dir, "keys", "operator.nk"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Write(dir, testPlan(), Options{Now: testTime}); !errors.Is(err, secret.ErrMode) {
		t.Errorf("a key that others can read: %v", err)
	}
}

// A key of a cluster that is missing is not replaced, whatever else is missing, and nothing
// is written before that is found.
func TestLostKeysAreRefused(t *testing.T) {
	dir, aside := t.TempDir(), t.TempDir()
	write(t, dir, testPlan(), Options{})
	for _, lost := range [][]string{
		{"keys/operator.nk"}, {"keys/account.nk"}, {"keys/system.nk"}, {"keys/ca.key", "keys/users.nk"}, {"keys"},
		{"keys/account.nk", PlanFile}, {"keys/system.nk", PlanFile}, {"keys", PlanFile},
	} {
		for _, name := range lost {
			if err := os.Rename(filepath.Join(dir, name), filepath.Join(aside, filepath.Base(name))); err != nil {
				t.Fatal(err)
			}
		}
		before := tree(t, dir)
		err := Write(dir, testPlan(), Options{Now: testTime})
		if err == nil || !strings.Contains(err.Error(), "from a backup") || !strings.Contains(err.Error(), filepath.Join(dir, "keys")) {
			t.Fatalf("without %v: found error %v, expected one that says where and what to do", lost, err)
		}
		if !maps.Equal(tree(t, dir), before) {
			t.Fatalf("without %v: found files written, expected none", lost)
		}
		for _, name := range lost {
			if err := os.Rename(filepath.Join(aside, filepath.Base(name)), filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A first command that was interrupted between two keys goes on with those that are there.
func TestInterruptedFirstCommand(t *testing.T) {
	for n := range keyFiles {
		dir := t.TempDir()
		keys := filepath.Join(dir, keysDir)
		if err := os.Mkdir(keys, 0o700); err != nil {
			t.Fatal(err)
		}
		if _, err := openIdentities(keys); err != nil {
			t.Fatal(err)
		}
		for _, name := range keyFiles[n:] {
			if err := os.Remove(filepath.Join(keys, name)); err != nil {
				t.Fatal(err)
			}
		}
		if err := checkKeys(dir); err != nil {
			t.Errorf("with %v alone: %v", keyFiles[:n], err)
		}
	}
}

// TestForeignReadme: somebody's README.md is not replaced; our own is.
func TestForeignReadme(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "README.md")
	if err := os.WriteFile(path, []byte("mine\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Write(dir, testPlan(), Options{Now: testTime}); !errors.Is(err, ErrPlan) || !strings.Contains(err.Error(), path) {
		t.Errorf("found error %v, expected %v", err, ErrPlan)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("found %d files, error %v", len(entries), err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	write(t, dir, testPlan(), Options{})
	if err := os.Remove(filepath.Join(dir, PlanFile)); err != nil {
		t.Fatal(err)
	}
	write(t, dir, testPlan(), Options{})
	if err := os.WriteFile(path, []byte("a line of ours\n"), 0o644); err != nil { // in a cluster's directory
		t.Fatal(err)
	}
	write(t, dir, testPlan(), Options{})
}

func TestPlansAreChecked(t *testing.T) {
	for want, change := range map[string]func(*Plan){
		"schema":                   func(p *Plan) { p.Schema = 9 },
		"run":                      func(p *Plan) { p.Run = "my run" },
		"id":                       func(p *Plan) { p.ID = "" },
		"1, 3 or 5":                func(p *Plan) { p.Servers = p.Servers[:2] },
		"twice":                    func(p *Plan) { p.Servers[1] = p.Servers[0] },
		"in containers twice":      func(p *Plan) { p.Servers[0].Name, p.Servers[1].Name = "nats-1", "1" },
		"one actor a machine":      func(p *Plan) { p.Roles = append(p.Roles, p.Roles[5]) },
		"same name":                func(p *Plan) { p.Roles = append(p.Roles, Machine{"actor", "a.1"}) },
		"role: found dancer":       func(p *Plan) { p.Roles[0].Name = "dancer" },
		"those of the roles":       func(p *Plan) { p.Servers[0].Name = "trainer-t1" },
		"no trainer":               func(p *Plan) { p.Roles = p.Roles[1:] },
		"NAME=HOST":                func(p *Plan) { p.Servers[0].Host = "a b" },
		`expected NAME=HOST, such`: func(p *Plan) { p.Roles[4].Host = "x\nExecStart=/bin/sh" },
	} {
		p := testPlan()
		change(&p)
		if err := p.Check(); !errors.Is(err, ErrPlan) || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %q", err, want)
		}
	}
}

// A new key for signing users shuts out all credentials of before, and none that were
// written with it. The account, to which the streams belong, stays.
func TestUsersAreShutOut(t *testing.T) {
	dir := t.TempDir()
	p := testPlan()
	write(t, dir, p, Options{})
	before := tree(t, dir)
	if err := os.Remove(filepath.Join(dir, "keys", "users.nk")); err != nil {
		t.Fatal(err)
	}
	p.Roles = p.Roles[:5] // without the actor on a2
	write(t, dir, p, Options{})
	after := tree(t, dir)
	account := func(conf string) *jwt.AccountClaims {
		for _, token := range claimsIn.FindAllString(conf, -1) {
			if c, err := jwt.DecodeAccountClaims(token); err == nil && c.Name == p.Run {
				return c
			}
		}
		t.Fatalf("no account in\n%s", conf)
		return nil
	}
	const conf, actor, gone = "machines/s1/etc/nats/nats.conf", "machines/a1/etc/selfplay/actor.creds", "machines/a2/etc/selfplay/actor.creds"
	was, is := account(before[conf]), account(after[conf])
	if was.Subject != is.Subject {
		t.Error("the account is another one")
	}
	for _, tc := range []struct {
		account *jwt.AccountClaims
		creds   string
		good    bool
	}{{was, before[actor], true}, {was, before[gone], true}, {is, after[actor], true}, {is, before[actor], false}, {is, after[gone], false}} {
		token, err := jwt.ParseDecoratedJWT([]byte(tc.creds))
		if err != nil {
			t.Fatal(err)
		}
		user, err := jwt.DecodeUserClaims(token)
		if err != nil {
			t.Fatal(err)
		}
		if got := tc.account.DidSign(user); got != tc.good {
			t.Errorf("%s: signed %v, expected %v", user.Name, got, tc.good)
		}
	}
}

var claimsIn = regexp.MustCompile(`eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+`)
