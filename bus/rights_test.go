package bus

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/jwt/v2"
)

// Names that are wildcards would give rights to everything. What the rights are good
// for is tried in package cluster, on servers.
func TestRightsAreOfOneName(t *testing.T) {
	for _, tc := range [][3]string{{"actor", "run", "*"}, {"actor", "run", ">"}, {"actor", "run", "a.b"}, {"actor", "run", ""}, {"actor", "*", "a"}, {"trainer", "a.>", ""}, {"dancer", "run", ""}} {
		if r, err := RightsOf(tc[0], tc[1], tc[2]); !errors.Is(err, ErrName) {
			t.Errorf("%q: found %v and %v, expected ErrName", tc, r, err)
		}
	}
	r, err := RightsOf("actor", "run", "a1")
	if err != nil || !slices.Contains(r.Publish, "run.game.a1") || len(r.Subscribe) != 0 || r.Answers {
		t.Errorf("found %+v, %v", r, err)
	}
	for _, s := range r.Publish {
		if !strings.HasPrefix(s, "$") && !strings.HasPrefix(s, "run.") || strings.HasPrefix(s, ">") {
			t.Errorf("an actor may publish %s", s)
		}
	}
}

// Answers go where the user alone may read, if its rights name such a place.
func TestOwnInbox(t *testing.T) {
	for subject, want := range map[string]string{"_INBOX_actor-a1.>": "_INBOX_actor-a1", "_INBOX.>": "", ">": "", "_INBOX_*.>": "", "_INBOX_a.b.>": "", "_INBOX_a": ""} {
		user := &jwt.UserClaims{}
		user.Sub.Allow.Add("x.>", subject)
		if got := ownInbox(user); got != want {
			t.Errorf("%s: found %q, expected %q", subject, got, want)
		}
	}
}
