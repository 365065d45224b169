package bus

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// The newest entries are kept, in the order of their times; what cannot be read is left out.
func TestAudit(t *testing.T) {
	c := openConn(t, Options{})
	b, err := c.Join(t.Context(), "test", JoinOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if all, err := b.AuditLog(t.Context()); err != nil || len(all) != 0 {
		t.Fatalf("found %v, error %v, expected none", all, err)
	}
	at := time.Unix(1_700_000_000, 0).UTC()
	for _, e := range []AuditEntry{{Time: at.Add(time.Second), By: "b", Action: "two"}, {Time: at, By: "a", Action: "one", What: "x", Why: strings.Repeat("é", maxAuditWhy)}} {
		if err := b.Audit(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.SetPointer(t.Context(), auditPrefix+"1-bad", "no entry", 0); err != nil {
		t.Fatal(err)
	}
	all, err := b.AuditLog(t.Context())
	if err != nil || len(all) != 2 || all[0].Action != "one" || all[1].By != "b" || len(all[0].Why) > maxAuditWhy || !all[0].Time.Equal(at) {
		t.Errorf("found %+v, error %v", all, err)
	}
	if _, err := parseAudit(make([]byte, maxAuditRaw+1)); !errors.Is(err, ErrRecord) {
		t.Errorf("a large entry: error %v", err)
	}
	histories, err := b.PointerHistories(t.Context())
	if err != nil || len(histories) != 3 {
		t.Errorf("found %d keys, error %v, expected 3", len(histories), err)
	}
}

// Messages that are not acknowledged are seen without being taken, and can be published
// again elsewhere.
func TestVisitPending(t *testing.T) {
	c := openConn(t, Options{})
	b, err := c.Join(t.Context(), "test", JoinOptions{})
	if err != nil {
		t.Fatal(err)
	}
	other, err := c.Join(t.Context(), "other", JoinOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		if _, err := b.PublishGames(t.Context(), "a", gameID(i), [][]byte{gameData(i)}); err != nil {
			t.Fatal(err)
		}
	}
	batch, err := b.Games(t.Context(), 2, time.Minute)
	if err == nil {
		err = b.AckGames(t.Context(), batch.Msgs[1])
	}
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	visit := func(m PendingMessage) error {
		ids = append(ids, m.Actor+" "+m.ID)
		return other.PublishPending(t.Context(), m)
	}
	if err := b.VisitPending(t.Context(), visit); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(ids, ", "); got != "a game-002, a game-003, a game-004" {
		t.Errorf("found %s", got)
	}
	batch, err = other.Games(t.Context(), 100, time.Minute)
	if err != nil || batch.Games() != 3 || string(batch.Msgs[0].Games[0]) != string(gameData(2)) {
		t.Errorf("published again: %d games, error %v, expected 3", batch.Games(), err)
	}
	if st, err := b.Stats(t.Context()); err != nil || st.Pending+uint64(st.Unacked) != 3 {
		t.Errorf("found %+v, error %v, expected 3 that are not acknowledged", st, err)
	}
}
