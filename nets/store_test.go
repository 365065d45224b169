package nets

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/crazyhouse-rl/selfplay/internal/secret"
)

func openStore(t *testing.T) *Store {
	t.Helper()
	s, err := Open(filepath.Join(t.TempDir(), "nets"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func put(t *testing.T, s *Store, net string) string {
	t.Helper()
	id, path, err := s.Put(strings.NewReader(net), KindNNUE)
	if err != nil {
		t.Fatal(err)
	}
	if id != Hash([]byte(net)) || path != s.Path(id) {
		t.Fatalf("Put gave id %s, path %s", id, path)
	}
	return id
}

func fileNames(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestPutGet(t *testing.T) {
	s := openStore(t)
	for _, net := range []string{"", "a net", strings.Repeat("weights", 100_000)} {
		id := put(t, s, net)
		if again := put(t, s, net); again != id {
			t.Errorf("second Put gave %s, first %s", again, id)
		}
		fresh, err := Open(s.Dir()) // has verified nothing yet
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []*Store{s, fresh} {
			path, err := s.Get(id)
			if err != nil {
				t.Fatal(err)
			}
			if b, err := os.ReadFile(path); err != nil || string(b) != net {
				t.Errorf("read %d bytes, %v", len(b), err)
			}
			if !s.Has(id) {
				t.Error("Has is false")
			}
		}
	}
	if names := fileNames(t, s.Dir()); len(names) != 3 {
		t.Errorf("files left: %q", names)
	}
}

func TestNotFoundAndBadID(t *testing.T) {
	s := openStore(t)
	id := Hash(nil)
	if _, err := s.Get(id); !errors.Is(err, ErrNotFound) {
		t.Errorf("Get: %v", err)
	}
	if _, err := s.Manifest(id); !errors.Is(err, ErrNotFound) {
		t.Errorf("Manifest: %v", err)
	}
	if s.Has(id) {
		t.Error("Has is true")
	}
	for _, bad := range []string{"", "x", strings.ToUpper(id), id + "0", "../" + id[3:]} {
		if _, err := s.Get(bad); !errors.Is(err, ErrID) {
			t.Errorf("Get(%q): %v", bad, err)
		}
		if _, err := s.Manifest(bad); !errors.Is(err, ErrID) {
			t.Errorf("Manifest(%q): %v", bad, err)
		}
		if _, err := s.PutAs(bad, strings.NewReader(""), KindNNUE); !errors.Is(err, ErrID) {
			t.Errorf("PutAs(%q): %v", bad, err)
		}
		if s.Has(bad) {
			t.Errorf("Has(%q)", bad)
		}
	}
}

func TestPutAs(t *testing.T) {
	s := openStore(t)
	id := Hash([]byte("net"))
	if _, err := s.PutAs(id, strings.NewReader("nut"), KindNNUE); !errors.Is(err, ErrCorrupt) {
		t.Errorf("wrong bytes: %v", err)
	}
	if names := fileNames(t, s.Dir()); len(names) != 0 {
		t.Errorf("files left: %q", names)
	}
	path, err := s.PutAs(id, strings.NewReader("net"), KindNNUE)
	if err != nil || path != s.Path(id) {
		t.Errorf("PutAs: %s, %v", path, err)
	}
}

// TestPutReadError breaks the source midway: no file, whole or half, may stay.
func TestPutReadError(t *testing.T) {
	s := openStore(t)
	broken := errors.New("line dropped")
	r := io.MultiReader(strings.NewReader("half a net"), iotest.ErrReader(broken))
	if _, _, err := s.Put(r, KindNNUE); !errors.Is(err, broken) {
		t.Errorf("Put: %v", err)
	}
	if names := fileNames(t, s.Dir()); len(names) != 0 {
		t.Errorf("files left: %q", names)
	}
}

// TestCorruptEveryLength cuts and alters the file of a net behind the store's
// back. The store must notice, remove the file and take the net again.
func TestCorruptEveryLength(t *testing.T) {
	const net = "a short net"
	spoilt := []string{"b short net", net + "!"}
	for n := range len(net) {
		spoilt = append(spoilt, net[:n])
	}
	s := openStore(t)
	id := put(t, s, net)
	for i, bad := range spoilt {
		if err := os.WriteFile(s.Path(id), []byte(bad), 0o644); err != nil {
			t.Fatal(err)
		}
		// The clock may be too coarse to show that the file was written again.
		later := time.Now().Add(time.Duration(i+1) * time.Second)
		if err := os.Chtimes(s.Path(id), later, later); err != nil {
			t.Fatal(err)
		}
		_, err := s.Get(id)
		if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), Hash([]byte(bad))) {
			t.Errorf("%q: %v", bad, err)
		}
		if _, err := s.Get(id); !errors.Is(err, ErrNotFound) {
			t.Errorf("%q: after removal: %v", bad, err)
		}
		put(t, s, net)
		if _, err := s.Get(id); err != nil {
			t.Errorf("%q: after putting it again: %v", bad, err)
		}
	}
}

// TestPutRepairs puts a net over a rotten file of the same name.
func TestPutRepairs(t *testing.T) {
	s := openStore(t)
	id := Hash([]byte("net"))
	if err := os.WriteFile(s.Path(id), []byte("rot"), 0o644); err != nil {
		t.Fatal(err)
	}
	put(t, s, "net")
	if _, err := s.Get(id); err != nil {
		t.Error(err)
	}
}

func TestStaleTemps(t *testing.T) {
	s := openStore(t)
	old, young := filepath.Join(s.Dir(), ".tmp-1"), filepath.Join(s.Dir(), ".tmp-2")
	for _, p := range []string{old, young} {
		if err := os.WriteFile(p, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	then := time.Now().Add(-2 * staleTemp)
	if err := os.Chtimes(old, then, then); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(s.Dir()); err != nil {
		t.Fatal(err)
	}
	if names := fileNames(t, s.Dir()); !slices.Equal(names, []string{".tmp-2"}) {
		t.Errorf("files left: %q", names)
	}
}

func TestManifestsListPrune(t *testing.T) {
	s := openStore(t)
	var ids []string
	for _, gen := range []int{2, 0, 1} {
		m := testManifest()
		m.ID, m.Generation = put(t, s, strings.Repeat("n", gen)), gen
		if err := s.PutManifest(m); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Manifest(m.ID); err != nil || got != m {
			t.Errorf("Manifest: %+v, %v", got, err)
		}
		ids = append(ids, m.ID)
	}
	list, err := s.List()
	if err != nil || len(list) != 3 {
		t.Fatalf("List: %d, %v", len(list), err)
	}
	for i, m := range list {
		if m.Generation != i {
			t.Errorf("generation %d at %d", m.Generation, i)
		}
	}

	// A manifest that cannot be read must not hide the others, and its net stays.
	if err := os.WriteFile(s.manifestPath(ids[0]), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	list, err = s.List()
	if len(list) != 2 || !errors.Is(err, ErrManifest) || !strings.Contains(err.Error(), ids[0]) {
		t.Errorf("List: %d, %v", len(list), err)
	}

	orphan := put(t, s, "a net without a manifest")
	removed, err := s.Prune(ids[1])
	want := []string{ids[2], orphan}
	slices.Sort(want)
	if err != nil || !slices.Equal(removed, want) {
		t.Errorf("Prune removed %q, %v", removed, err)
	}
	left := []string{ids[0] + ".json", ids[0] + ".nnue", ids[1] + ".json", ids[1] + ".nnue"}
	slices.Sort(left)
	if names := fileNames(t, s.Dir()); !slices.Equal(names, left) {
		t.Errorf("files left: %q", names)
	}
}

func TestManifestOfOtherNet(t *testing.T) {
	s := openStore(t)
	m := testManifest()
	b, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	other := Hash([]byte("other"))
	if err := os.WriteFile(s.manifestPath(other), b, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Manifest(other); !errors.Is(err, ErrManifest) {
		t.Errorf("Manifest: %v", err)
	}
}

func TestConcurrentPut(t *testing.T) {
	s := openStore(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			id, _, err := s.Put(strings.NewReader("the same net"), KindNNUE)
			if err != nil {
				t.Error(err)
			}
			if _, err := s.Get(id); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if names := fileNames(t, s.Dir()); len(names) != 1 {
		t.Errorf("files left: %q", names)
	}
}

// Of many that create a key at once one succeeds, and its key is the one that is
// there.
func TestCreateKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys", "sign.pem")
	if _, err := LoadKey(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	var mu sync.Mutex
	var made []ed25519.PrivateKey
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			key, err := CreateKey(path)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				made = append(made, key)
			} else if !errors.Is(err, fs.ErrExist) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if loaded, err := LoadKey(path); err != nil || len(made) != 1 || !bytes.Equal(loaded, made[0]) {
		t.Errorf("%d keys were made, loading one: %v", len(made), err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if names := fileNames(t, filepath.Dir(path)); len(names) != 1 {
		t.Errorf("files left: %q", names)
	}
}

func TestLoadKeyRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sign.pem")
	for _, content := range []string{"", "hello", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadKey(path); !errors.Is(err, ErrKey) {
			t.Errorf("%q: %v", content, err)
		}
		if b, err := os.ReadFile(path); err != nil || string(b) != content {
			t.Errorf("%q was replaced", content)
		}
	}
}

func TestLoadKeyRefusesModes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sign.pem")
	if _, err := CreateKey(path); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadKey(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadKey(path); runtime.GOOS != "windows" && (!errors.Is(err, ErrKey) || !errors.Is(err, secret.ErrMode)) {
		t.Errorf("mode 0644: %v", err)
	}
}

// Files are named by the kind of their net, and found whatever it is.
func TestKinds(t *testing.T) {
	s, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]string{}
	for kind, ext := range map[string]string{KindNNUE: ".nnue", KindPlanes: ".onnx"} {
		id, path, err := s.Put(strings.NewReader(kind), kind)
		if err != nil || filepath.Base(path) != id+ext {
			t.Errorf("%s: put at %s, error %v", kind, path, err)
		}
		if again, err := s.Get(id); again != path || err != nil || !s.Has(id) {
			t.Errorf("%s: got at %s, error %v, expected %s", kind, again, err, path)
		}
		if found := KindOf(path); found != kind {
			t.Errorf("%s: found kind %s of %s", kind, found, path)
		}
		ids[kind] = id
	}
	if _, _, err := s.Put(strings.NewReader("x"), "lookup"); !errors.Is(err, ErrManifest) {
		t.Errorf("unknown kind: %v", err)
	}
	removed, err := s.Prune(ids[KindNNUE])
	if err != nil || !slices.Equal(removed, []string{ids[KindPlanes]}) || s.Has(ids[KindPlanes]) || !s.Has(ids[KindNNUE]) {
		t.Errorf("pruned %v, error %v", removed, err)
	}
}
