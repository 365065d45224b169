package cluster

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/bus"
)

// The users of a cluster that was written before there was an audit lack the right to
// write its entries. That is said in one sentence; written again, the cluster has it, with
// the same users.
func TestRightsOfAnEarlierVersion(t *testing.T) {
	c := startCluster(t)
	text, err := os.ReadFile(filepath.Join("testdata", "rights-before-audit.json"))
	if err != nil {
		t.Fatal(err)
	}
	var earlier map[string]bus.Rights
	if err := json.Unmarshal(text, &earlier); err != nil {
		t.Fatal(err)
	}
	id, err := openIdentities(filepath.Join(c.dir, keysDir))
	if err != nil {
		t.Fatal(err)
	}
	account, err := id.account.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	m := Machine{"replay", "t1"}
	creds := c.creds(m.Name, m.Host)
	if err := writeUser(creds, c.plan.User(m), account, id.users, earlier[m.Name]); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(creds)
	if err != nil {
		t.Fatal(err)
	}
	open := func(creds string) *bus.Bus {
		t.Helper()
		conn, err := bus.Open(t.Context(), bus.Options{URL: c.url, Creds: creds, TLSCA: c.ca(), Patience: patience})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		b, err := conn.Join(t.Context(), c.plan.ID, bus.JoinOptions{Replicas: 3})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	open(filepath.Join(c.dir, "operator.creds")) // makes the streams
	entry := bus.AuditEntry{By: "replay@t1", Action: "quarantine", What: "a1", Why: "test"}
	if err := open(creds).Audit(t.Context(), entry); !errors.Is(err, bus.ErrDenied) || !strings.Contains(err.Error(), "selfplay init cluster DIR again") {
		t.Errorf("with rights of before: found %v, expected ErrDenied and what to do", err)
	}
	write(t, c.dir, c.plan, Options{})
	after, err := os.ReadFile(creds)
	if err != nil || user(t, string(after)) != user(t, string(before)) {
		t.Errorf("written again, the user is another one (%v)", err)
	}
	b := open(creds)
	if err := b.Audit(t.Context(), entry); err != nil {
		t.Errorf("written again: %v", err)
	}
	if all, err := b.AuditLog(t.Context()); err != nil || len(all) != 1 {
		t.Errorf("found entries %+v, %v, expected one", all, err)
	}
}
