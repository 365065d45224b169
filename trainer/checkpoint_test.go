package trainer

import (
	"bytes"
	"errors"
	"testing"
)

func FuzzReadState(f *testing.F) {
	tr, err := New(nil, nil, Config{BatchSize: 1, Seed: 1, LearningRate: Constant(0), Lambda: Constant(0)})
	if err != nil {
		f.Fatal(err)
	}
	head, err := tr.header([]byte("caller"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(head)
	f.Add(head[:len(head)-1])
	f.Fuzz(func(t *testing.T, data []byte) {
		s, rng, err := readState(bytes.NewReader(data))
		if err != nil {
			if !errors.Is(err, ErrCheckpoint) {
				t.Fatalf("unexpected error %v", err)
			}
			return
		}
		again := &Trainer{state: s, rng: rng}
		b, err := again.header(s.Caller)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := readState(bytes.NewReader(b)); err != nil {
			t.Fatalf("written back: %v", err)
		}
	})
}
