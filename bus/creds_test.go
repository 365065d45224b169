package bus

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"
)

// operator signs accounts, whose users have files of credentials.
type operator struct {
	key    nkeys.KeyPair
	claims *jwt.OperatorClaims
}

// encode returns claims signed by a key.
func encode(t *testing.T, claims jwt.Claims, signer nkeys.KeyPair) string {
	t.Helper()
	text, err := claims.Encode(signer)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// nkey makes a key pair and returns it with its public key.
func nkey(t *testing.T, create func() (nkeys.KeyPair, error)) (nkeys.KeyPair, string) {
	t.Helper()
	pair, err := create()
	if err != nil {
		t.Fatal(err)
	}
	public, err := pair.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	return pair, public
}

func newOperator(t *testing.T) operator {
	t.Helper()
	key, public := nkey(t, nkeys.CreateOperator)
	o := operator{key, jwt.NewOperatorClaims(public)}
	encode(t, o.claims, key) // which completes the claims
	return o
}

// account makes an account, tells the resolver, and returns the account's key.
func (o operator) account(t *testing.T, known *server.MemAccResolver, change func(*jwt.AccountClaims)) nkeys.KeyPair {
	t.Helper()
	key, public := nkey(t, nkeys.CreateAccount)
	claims := jwt.NewAccountClaims(public)
	change(claims)
	if err := known.Store(public, encode(t, claims, o.key)); err != nil {
		t.Fatal(err)
	}
	return key
}

// server starts a server of the operator, and returns its URL and the key of its own account.
func (o operator) server(t *testing.T, known *server.MemAccResolver) (url string, system nkeys.KeyPair) {
	t.Helper()
	return o.serverOf(t, known, known)
}

// serverOf starts one that asks a resolver for what is known.
func (o operator) serverOf(t *testing.T, known *server.MemAccResolver, resolver server.AccountResolver) (url string, system nkeys.KeyPair) {
	t.Helper()
	system = o.account(t, known, func(*jwt.AccountClaims) {})
	id, err := system.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	return "nats://" + startServer(t, &server.Options{
		JetStream: true, TrustedOperators: []*jwt.OperatorClaims{o.claims}, AccountResolver: resolver, SystemAccount: id,
	}), system
}

// credentials makes a user of an account and writes the file that the user is given.
func credentials(t *testing.T, account nkeys.KeyPair, change func(*jwt.UserClaims)) string {
	t.Helper()
	key, public := nkey(t, nkeys.CreateUser)
	claims := jwt.NewUserClaims(public)
	change(claims)
	seed, err := key.Seed()
	if err != nil {
		t.Fatal(err)
	}
	text, err := jwt.FormatUserConfig(encode(t, claims, account), seed)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "user.creds")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// withStore gives an account JetStream.
func withStore(c *jwt.AccountClaims) {
	c.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: jwt.NoLimit, DiskStorage: jwt.NoLimit, Streams: jwt.NoLimit, Consumer: jwt.NoLimit}
}

// anyone is a user as it is made.
func anyone(*jwt.UserClaims) {}

// Servers of an operator let in who has the credentials of an account, and keep the
// runs of accounts apart.
func TestCredentials(t *testing.T) {
	op, known := newOperator(t), &server.MemAccResolver{}
	ours, others := op.account(t, known, withStore), op.account(t, known, withStore)
	poor := op.account(t, known, func(*jwt.AccountClaims) {})
	stranger := newOperator(t).account(t, &server.MemAccResolver{}, withStore)
	url, system := op.server(t, known)

	good := openConn(t, Options{URL: url, Creds: credentials(t, ours, anyone)})
	if err := good.CreateRun(testContext(t), RunRecord{Schema: RunSchema, Name: "demo", ID: "test", Variant: "crazyhouse", Kind: "nnue", Protocol: Protocol}); err != nil {
		t.Fatal(err)
	}
	publish(t, joinRun(t, good, "test", JoinOptions{}), 1)
	colleague := openConn(t, Options{URL: url, Creds: credentials(t, ours, anyone)})
	if _, err := colleague.FindRun(testContext(t), "demo"); err != nil {
		t.Errorf("another user of the account: %v", err)
	}
	elsewhere := openConn(t, Options{URL: url, Creds: credentials(t, others, anyone)})
	if _, err := elsewhere.FindRun(testContext(t), "demo"); !errors.Is(err, ErrNoRun) {
		t.Errorf("a user of another account: got %v, want ErrNoRun", err)
	}

	halved := func() string {
		path := credentials(t, ours, anyone)
		text, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(path, text[:len(text)/2], 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		return path
	}()
	for what, tc := range map[string]struct {
		creds string
		is    error
		want  string
	}{
		"no credentials":            {"", ErrServer, "it refused who we are"},
		"user of another operator":  {credentials(t, stranger, anyone), ErrServer, "it refused who we are"},
		"expired user":              {credentials(t, ours, func(c *jwt.UserClaims) { c.Expires = time.Now().Add(-time.Hour).Unix() }), ErrServer, "has expired at"},
		"account without JetStream": {credentials(t, poor, anyone), ErrServer, "JetStream is not enabled for the account"},
		"the system's account":      {credentials(t, system, anyone), ErrServer, "JetStream is not enabled for the account"},
		"user that may not publish": {credentials(t, ours, func(c *jwt.UserClaims) { c.Pub.Deny.Add("$JS.>") }), ErrServer, "does not permit JetStream"},
		"half a file":               {halved, ErrConfig, halved + ": "},
		"a file of something else":  {secretFile(t, "word"), ErrConfig, "found no user"},
	} {
		err := openFails(t, Options{URL: url, Creds: tc.creds})
		if !errors.Is(err, tc.is) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %v with %q", what, err, tc.is, tc.want)
		}
		isSaidAtOnce(t, what, err)
	}
}

// lateResolver knows an account only from the third question for it on.
type lateResolver struct {
	*server.MemAccResolver
	account string
	asked   atomic.Int32
}

func (r *lateResolver) Fetch(name string) (string, error) {
	if name == r.account && r.asked.Add(1) < 3 {
		return "", server.ErrMissingAccount
	}
	return r.MemAccResolver.Fetch(name)
}

// A user whom a server refuses while it loads the account is let in a moment later.
func TestUserOfAnAccountBeingLoaded(t *testing.T) {
	op, known := newOperator(t), &server.MemAccResolver{}
	account := op.account(t, known, withStore)
	name, err := account.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	late := &lateResolver{MemAccResolver: known, account: name}
	url, _ := op.serverOf(t, known, late)
	openConn(t, Options{URL: url, Creds: credentials(t, account, anyone)})
	if n := late.asked.Load(); n < 3 {
		t.Errorf("the account was asked for %d times, expected 3 or more", n)
	}
}

// A server of an operator loads an account when its first user comes. Others who come at
// that moment, as the roles of a cluster do that is started, are let in too.
func TestFirstUsersOfAnAccount(t *testing.T) {
	op, known := newOperator(t), &server.MemAccResolver{}
	accounts := make([]nkeys.KeyPair, 40)
	for i := range accounts {
		accounts[i] = op.account(t, known, withStore)
	}
	url, _ := op.server(t, known)
	for _, a := range accounts {
		user := credentials(t, a, anyone)
		var all sync.WaitGroup
		for range 6 {
			all.Go(func() {
				c, err := Open(testContext(t), Options{URL: url, Creds: user})
				if err != nil {
					t.Error(err)
					return
				}
				c.Close()
			})
		}
		all.Wait()
	}
}
