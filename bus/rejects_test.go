package bus

import (
	"context"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
)

// boundedRejects is a stream that looks at the time that each request for a message has.
type boundedRejects struct {
	jetstream.Stream
	asked     int
	unbounded int // requests without a deadline
	shared    int // requests whose time had begun with an earlier one
	last      context.Context
}

func (s *boundedRejects) GetMsg(ctx context.Context, seq uint64, opts ...jetstream.GetMsgOpt) (*jetstream.RawStreamMsg, error) {
	s.asked++
	if _, ok := ctx.Deadline(); !ok {
		s.unbounded++
	}
	if s.last != nil && s.last.Err() == nil {
		s.shared++
	}
	s.last = ctx
	return s.Stream.GetMsg(ctx, seq, opts...)
}

// Each request for a rejected game has its own time: thousands of them take longer than one may.
func TestRejectsAreBoundedEach(t *testing.T) {
	const games = 5
	b := openBus(t, Options{})
	for range games {
		if err := b.Reject(testContext(t), "bad", []byte("game")); err != nil {
			t.Fatal(err)
		}
	}
	s := &boundedRejects{Stream: b.rejects}
	b.rejects = s
	list, err := b.Rejects(context.Background(), games)
	if err != nil || len(list) != games {
		t.Fatalf("found %d games, error %v, expected %d", len(list), err, games)
	}
	if s.asked != games || s.unbounded != 0 || s.shared != 0 {
		t.Errorf("%d requests, %d without a deadline, %d in the time of another, expected %d, none and none", s.asked, s.unbounded, s.shared, games)
	}
}
