package dash

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/selfplay"
)

const (
	controlPath   = "/api/control/" // the paths that change something
	controlWithin = 15 * time.Second
	mostWhy       = 500 // bytes

	// LeastToken is the length of a token at least, in bytes.
	LeastToken = 16
)

// Control lets who knows the token change which net the run plays with.
type Control struct {
	Token []byte
	// Promote and Rollback are those of selfplay.NetChoice, by this page.
	Promote  func(ctx context.Context, net, why string) (was, is nets.Record, err error)
	Rollback func(ctx context.Context, generation int, why string) (was, is nets.Record, err error)
}

// Order is a change that the page asks for.
type Order struct {
	Net        string `json:"net"`        // to promote: an id, or at least 8 digits of it
	Generation *int   `json:"generation"` // to go back to, 0: none; null: the one before
	Why        string `json:"why"`        // for the run's history
}

// Done says what an order has come to.
type Done struct {
	Was nets.Record `json:"was"`
	Is  nets.Record `json:"is"`
}

// allowed reports whether a request has the token. It stands in a header, which no page
// but this one can send here, and in no address.
func (c *Control) allowed(r *http.Request) bool {
	given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	got, want := sha256.Sum256([]byte(given)), sha256.Sum256(c.Token)
	return subtle.ConstantTimeCompare(got[:], want[:]) == 1 && ok && len(c.Token) >= LeastToken
}

// change obeys an order of somebody who has the token, one at a time.
func (s *Server) change(do func(context.Context, *Control, Order) (was, is nets.Record, err error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c := s.watch.cfg.Control
		if c == nil {
			refuse(w, http.StatusForbidden, "this page only reads: it was started without --page-token")
			return
		}
		if !c.allowed(r) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			refuse(w, http.StatusUnauthorized, "found no token or a wrong one, expected that of the file --page-token")
			return
		}
		order, err := readQuestion[Order](w, r)
		if err == nil && (strings.TrimSpace(order.Why) == "" || len(order.Why) > mostWhy) {
			err = fmt.Errorf("%w: found a reason of %d bytes, expected one of 1 to %d", errQuestion, len(order.Why), mostWhy)
		}
		if err != nil {
			refuse(w, http.StatusBadRequest, err.Error())
			return
		}
		if !s.changing.TryLock() {
			refuse(w, http.StatusConflict, "another change is under way; try again")
			return
		}
		defer s.changing.Unlock()
		ctx, cancel := context.WithTimeout(r.Context(), controlWithin)
		defer cancel()
		was, is, err := do(ctx, c, order)
		switch {
		case errors.Is(err, selfplay.ErrNoChoice), errors.Is(err, bus.ErrConflict):
			refuse(w, http.StatusConflict, err.Error())
		case err != nil:
			refuse(w, http.StatusInternalServerError, err.Error())
		default:
			answer(w, encode(Done{was, is}))
		}
	}
}

func promote(ctx context.Context, c *Control, o Order) (was, is nets.Record, err error) {
	return c.Promote(ctx, o.Net, o.Why)
}

func rollback(ctx context.Context, c *Control, o Order) (was, is nets.Record, err error) {
	to := selfplay.Previous
	if o.Generation != nil {
		if to = *o.Generation; to < 0 {
			return was, is, fmt.Errorf("%w: found generation %d, expected 0 or more", selfplay.ErrNoChoice, to)
		}
	}
	return c.Rollback(ctx, to, o.Why)
}
