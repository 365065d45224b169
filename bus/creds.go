package bus

import (
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/jwt/v2"

	"github.com/crazyhouse-rl/selfplay/internal/secret"
)

// readCreds reads a file of credentials and returns what it says of the user. Package
// nats would read one that is damaged only when it connects, and try again.
func readCreds(path string) (*jwt.UserClaims, error) {
	text, err := secret.ReadFile(path)
	if err != nil {
		return nil, err
	}
	signed, err := jwt.ParseDecoratedJWT([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("%s: found no user, expected a file of NATS credentials such as nsc writes", path)
	}
	user, err := jwt.DecodeUserClaims(signed)
	if err != nil {
		return nil, fmt.Errorf("%s: found no user (%w), expected a file of NATS credentials such as nsc writes", path, err)
	}
	key, err := jwt.ParseDecoratedUserNKey([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("%s: found no key of the user, expected a file of NATS credentials such as nsc writes", path)
	}
	key.Wipe()
	return user, nil
}

// ownInbox is the prefix of the answers that a user alone may read, as its rights have
// it; empty: all users have the same one.
func ownInbox(user *jwt.UserClaims) string {
	for _, subject := range user.Sub.Allow {
		if inbox, ok := strings.CutSuffix(subject, ".>"); ok && strings.HasPrefix(inbox, InboxPrefix) && !strings.ContainsAny(inbox, ".*>") {
			return inbox
		}
	}
	return ""
}

// expired says when the user of a file of credentials has expired by this machine's
// clock, nothing if it has not.
func expired(path string) string {
	if path == "" {
		return ""
	}
	user, err := readCreds(path)
	if err != nil || user.Expires == 0 || time.Now().Before(time.Unix(user.Expires, 0)) {
		return ""
	}
	return fmt.Sprintf("; the user in %s has expired at %s: ask for new credentials", path, time.Unix(user.Expires, 0).Format(time.DateTime))
}
