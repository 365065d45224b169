package generate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// Whatever a .chain file holds, a run begins behind it or refuses it.
func FuzzResumeChain(f *testing.F) {
	cfg := Config{Settings: settings(), Seed: 7, New: newEngine, Count: 20}
	cfg.WriteMinPly = 0
	cfg.Output = filepath.Join(f.TempDir(), "seed.chain")
	if _, err := Run(f.Context(), cfg); err != nil {
		f.Fatal(err)
	}
	file, err := os.ReadFile(cfg.Output)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(file)
	f.Add(file[:len(file)-1])
	f.Add(append(bytes.Clone(file), file...))
	f.Add([]byte("ZHCB"))
	run, err := cfg.run()
	if err != nil {
		f.Fatal(err)
	}
	path := filepath.Join(f.TempDir(), "x.chain")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		cfg.Output = path
		o, err := openOutput(&cfg, run, newSeen(1))
		if err != nil {
			if after, readErr := os.ReadFile(path); readErr != nil || !bytes.Equal(after, data) {
				t.Errorf("refused with %v, and changed", err)
			}
			return
		}
		if err := o.close(); err != nil {
			t.Fatal(err)
		}
		if after, err := os.ReadFile(path); err != nil || int64(len(after)) != o.at.Bytes || !bytes.HasPrefix(data, after) {
			t.Errorf("%d bytes left of %d, expected %d", len(after), len(data), o.at.Bytes)
		}
	})
}

// The states of older builds have another key for the positions of the file.
func TestOldState(t *testing.T) {
	for _, key := range []string{"file_positions", "filePositions"} {
		s, err := parseState(fmt.Appendf(nil, `{"run":"ab","seed":1,"next":2,"positions":4,"file":1,%q:3,"bytes":216}`, key))
		if want := (state{"ab", 1, 2, 4, 1, 3, 216}); err != nil || s != want {
			t.Errorf("%s: found %+v, error %v, expected %+v", key, s, err, want)
		}
	}
}

func FuzzState(f *testing.F) {
	f.Add([]byte(`{"run":"ab","seed":1,"next":2,"positions":3,"file":0,"filePositions":3,"bytes":216}`))
	f.Add([]byte(`{"run":"ab","seed":1,"next":2,"positions":3,"file":0,"file_positions":3,"bytes":216}`))
	f.Add([]byte(`{"run":"ab","file":-1}`))
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := parseState(text)
		if err != nil {
			return
		}
		again, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := parseState(again); err != nil || got != s {
			t.Errorf("%+v, then %+v, %v", s, got, err)
		}
	})
}
