package selfplay

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/nets"
)

// TestNetList: the list survives on disk, and knows whether it is whole.
func TestNetList(t *testing.T) {
	path := filepath.Join(t.TempDir(), publishedFile)
	open := func(none bool) *netList {
		l, err := openNetList(path, none)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	l := open(true)
	for _, id := range []string{"a", "b", "a"} {
		if err := l.add(id); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.found("b"); err != nil {
		t.Fatal(err)
	}
	l = open(false)
	if known, whole := l.has("b"); !known || !whole || len(l.list.Nets) != 2 {
		t.Errorf("known %v, whole %v, nets %v", known, whole, l.list.Nets)
	}
	if err := l.found("c"); err != nil {
		t.Fatal(err)
	}
	if known, whole := open(true).has("c"); !known || whole {
		t.Errorf("another trainer's net: known %v, whole %v", known, whole)
	}
	path += "2"
	if _, whole := open(false).has("a"); whole {
		t.Error("the list of a run with nets is whole from the start")
	}
}

// TestPublishedAnswer: an answer says which nets are the run's, and counts only as the
// answer to this question, signed by the run's key.
func TestPublishedAnswer(t *testing.T) {
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	public := key.Public().(ed25519.PublicKey)
	other := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, ed25519.SeedSize))
	l, err := openNetList(filepath.Join(t.TempDir(), publishedFile), true)
	if err == nil {
		err = l.add("known")
	}
	if err != nil {
		t.Fatal(err)
	}
	ask := func(net string, signer ed25519.PrivateKey) []byte {
		text, err := l.answer("run", signer, encodeMessage(&publishedRequest{Schema: messageSchema, Net: net, Nonce: "n"}))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	for _, c := range []struct {
		name            string
		answer          []byte
		run, net, nonce string
		want            netPlace
		err             bool
	}{
		{"published", ask("known", key), "run", "known", "n", netGone, false},
		{"never published", ask("new", key), "run", "new", "n", netForeign, false},
		{"another key", ask("new", other), "run", "new", "n", netUnsure, true},
		{"another run", ask("new", key), "run2", "new", "n", netUnsure, true},
		{"another net", ask("new", key), "run", "known", "n", netUnsure, true},
		{"an older answer", ask("new", key), "run", "new", "n2", netUnsure, true},
		{"altered", bytes.Replace(ask("new", key), []byte("false"), []byte("true"), 1), "run", "new", "n", netUnsure, true},
		{"no answer", []byte("{}"), "run", "new", "n", netUnsure, true},
	} {
		place, err := readPublished(c.answer, c.run, c.net, c.nonce, public)
		if place != c.want || (err != nil) != c.err {
			t.Errorf("%s: %v, error %v", c.name, place, err)
		}
	}
	if err := l.found("another"); err != nil {
		t.Fatal(err)
	}
	if place, err := readPublished(ask("new", key), "run", "new", "n", public); place != netUnsure || err != nil {
		t.Errorf("of a list with gaps: %v, error %v", place, err)
	}
	if _, err := l.answer("run", key, encodeMessage(&publishedRequest{Schema: messageSchema, Net: strings.Repeat("x", 300)})); err == nil {
		t.Error("a net's id of 300 bytes is taken")
	}
}

// TestPublishedAnswerOfALaterBuild: what a later build says more is signed with the rest,
// and does not keep an earlier one from reading it; altered, it is refused.
func TestPublishedAnswerOfALaterBuild(t *testing.T) {
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	public := key.Public().(ed25519.PublicKey)
	l, err := openNetList(filepath.Join(t.TempDir(), publishedFile), true)
	if err != nil {
		t.Fatal(err)
	}
	laterKey = "of_a_later_build"
	answer, err := l.answer("run", key, encodeMessage(&publishedRequest{Schema: messageSchema, Net: "new", Nonce: "n"}))
	laterKey = ""
	if err != nil || !bytes.Contains(answer, []byte("of_a_later_build")) {
		t.Fatalf("found %s, error %v", answer, err)
	}
	if place, err := readPublished(answer, "run", "new", "n", public); place != netForeign || err != nil {
		t.Errorf("found %v, error %v, expected that the net was never published", place, err)
	}
	for _, change := range [][2]string{{"[1,2]", "[1,3]"}, {`"published":false`, `"published":true`}, {"{", `{"signature":"",`}, {`"run"`, ` "run"`}} {
		if place, err := readPublished(bytes.Replace(answer, []byte(change[0]), []byte(change[1]), 1), "run", "new", "n", public); place != netUnsure || err == nil {
			t.Errorf("with %s in place of %s: found %v, error %v", change[1], change[0], place, err)
		}
	}
}

// TestFindNet: a net is the run's if it is there with a manifest that the trainer has
// signed, or if the trainer says so.
func TestFindNet(t *testing.T) {
	cfg, err := configs.Preset("tiny")
	if err != nil {
		t.Fatal(err)
	}
	r, err := Open(t.Context(), t.TempDir(), cfg, Options{Build: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	l, err := openNetList(r.path(publishedFile), true)
	if err != nil {
		t.Fatal(err)
	}
	place := func(id string, want netPlace) {
		t.Helper()
		if found := r.findNet(t.Context(), id); found != want {
			t.Errorf("net %.12q: %v, want %v", id, found, want)
		}
	}
	place(foreignNet, netUnsure) // there is no trainer
	stop, err := r.bus.Serve(publishedService, func(request []byte) ([]byte, error) { return l.answer(r.id(), r.key, request) })
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	put := func(content string, key ed25519.PrivateKey) string {
		t.Helper()
		m := nets.Manifest{
			Schema: nets.ManifestSchema, ID: nets.Hash([]byte(content)), Size: int64(len(content)),
			Variant: cfg.Variant, Kind: cfg.Net.Kind, Run: r.id(), Generation: 1,
		}
		if err := m.Sign(key); err != nil {
			t.Fatal(err)
		}
		if err := r.bus.PutNet(context.Background(), m, strings.NewReader(content)); err != nil {
			t.Fatal(err)
		}
		return m.ID
	}
	ours, theirs := put("ours", r.key), put("theirs", ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)))
	if err := l.add(ours); err != nil {
		t.Fatal(err)
	}
	place(r.firstNet().ID, netAtHand)
	place(ours, netAtHand)
	place(theirs, netForeign)
	place(foreignNet, netForeign)
	for _, id := range []string{"", "no id", "\xff", strings.Repeat("x", 250), strings.ToUpper(ours)} {
		place(id, netForeign)
	}
	if err := r.bus.DeleteNet(t.Context(), ours); err != nil {
		t.Fatal(err)
	}
	place(ours, netGone)
}
