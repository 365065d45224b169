package soak

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// samples are those of a soak in which column c has the value of f at sample i of n.
func samples(n int, f func(name string, i int) float64) (all []Sample) {
	for i := range n {
		s := Sample{At: time.Duration(i) * time.Minute}
		for _, name := range Columns() {
			s.Values = append(s.Values, f(name, i))
		}
		all = append(all, s)
	}
	return all
}

// flat is a run that holds the same for ever and works on.
func flat(name string, i int) float64 {
	if name == "games" || name == "steps" || name == "nets" {
		return float64(1000 * i)
	}
	return 100 * mib
}

func TestGrowthIsFound(t *testing.T) {
	for what, tc := range map[string]struct {
		f    func(name string, i int) float64
		want string
	}{
		"flat": {flat, ""},
		"fills up in the first half": {func(name string, i int) float64 {
			if name == "disk_replay_bytes" {
				return min(float64(i)*10*mib, 200*mib)
			}
			return flat(name, i)
		}, ""},
		"a saw": {func(name string, i int) float64 {
			if name == "memory_bytes" {
				return float64(300+i%5*40) * mib
			}
			return flat(name, i)
		}, ""},
		"a leak": {func(name string, i int) float64 {
			if name == "memory_bytes" {
				return float64(100+10*i) * mib
			}
			return flat(name, i)
		}, "memory_bytes grows"},
		"descriptors": {func(name string, i int) float64 {
			if name == "descriptors" {
				return float64(20 + 2*i)
			}
			return flat(name, i)
		}, "descriptors grows"},
		"slow and within a few MiB": {func(name string, i int) float64 {
			if name == "disk_rest_bytes" {
				return float64(i) * 1000
			}
			return flat(name, i)
		}, ""},
		"what nets leave": {func(name string, i int) float64 {
			if name == "disk_rest_bytes" {
				return flat("nets", i) * 1500
			}
			return flat(name, i)
		}, ""},
		"more than nets leave": {func(name string, i int) float64 {
			if name == "disk_rest_bytes" {
				return flat("nets", i) * 4000
			}
			return flat(name, i)
		}, "disk_rest_bytes grows"},
		"a run that stands still": {func(name string, i int) float64 {
			if name == "steps" {
				return 500
			}
			return flat(name, i)
		}, "steps stands still"},
	} {
		growth, err := Judge(samples(40, tc.f), 0.1)
		if err != nil {
			t.Fatal(err)
		}
		found := ""
		if err := Err(growth); err != nil {
			found = err.Error()
		}
		if (tc.want == "") != (found == "") || !strings.Contains(found, tc.want) {
			t.Errorf("%s: found %q, expected %q", what, found, tc.want)
		}
		var b bytes.Buffer
		if err := Write(&b, growth); err != nil || !strings.Contains(b.String(), "! "+tc.want) && tc.want != "" {
			t.Errorf("%s: %v, found\n%s", what, err, b.String())
		}
	}
	if _, err := Judge(samples(leastSamples-1, flat), 0.1); err == nil {
		t.Error("a verdict on too few samples")
	}
}

func TestSamplesAsCSV(t *testing.T) {
	want := samples(3, flat)
	var b bytes.Buffer
	w, err := NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range want {
		if err := w.Write(s); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := Read(bytes.NewReader(b.Bytes())); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("found %v, %v, expected %v", got, err, want)
	}
	for _, bad := range []string{"", "a,b\n1,2\n", strings.Replace(b.String(), "60.0", "x", 1), strings.Replace(b.String(), "60.0", "NaN", 1)} {
		if _, err := Read(strings.NewReader(bad)); err == nil {
			t.Errorf("%.40q was read", bad)
		}
	}
}

func TestDiskByKind(t *testing.T) {
	dir := t.TempDir()
	for name, size := range map[string]int{"replay/1.seg": 10, "replay/2.seg": 5, "bus/a/b/1.blk": 7, "events.jsonl": 3, "tensorboard/x": 4,
		"nets/a.nnue": 8, candidate: 9} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]int64{"replay": 15, "bus": 7, "nets": 17, restOfDisk: 7}
	if got, err := usage(dir); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("found %v, %v, expected %v", got, err, want)
	}
	if _, err := usage(filepath.Join(dir, "none")); err == nil {
		t.Error("a directory that is not there")
	}
}
