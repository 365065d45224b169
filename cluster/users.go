package cluster

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/internal/durable"
	"github.com/crazyhouse-rl/selfplay/internal/secret"
)

const answerWithin = time.Minute // of a request that a role serves

// identities are the keys of who vouches for whom: the operator for accounts, an account
// for the key that signs its users. That one can be replaced: the streams belong to the
// account.
type identities struct {
	operator, account, users, system nkeys.KeyPair
}

// usersKey is the file of the key that signs users. It alone may be made anew.
const usersKey = "users.nk"

// keyFiles are the names of the files of keys, which stay with who runs the cluster. They
// are written in this order, those of the certificates' authority after them.
var keyFiles = []string{"operator.nk", "account.nk", usersKey, "system.nk"}

// checkKeys reads all keys of a cluster's directory and returns an error if one is bad, or
// is missing though the cluster has it: servers and users that are set up are good with no
// other. Of a first command that was interrupted the last ones may be missing. It is asked
// before anything is written.
func checkKeys(dir string) error {
	keys := filepath.Join(dir, keysDir)
	ca, caErr := findAuthority(filepath.Join(dir, authorityFile), filepath.Join(keys, authorityKey))
	_, planErr := os.Stat(filepath.Join(dir, PlanFile))
	begun := planErr == nil || ca != nil || caErr != nil
	var missing []string
	for _, name := range slices.Backward(keyFiles) {
		_, err := readKey(filepath.Join(keys, name))
		switch {
		case err == nil:
			begun = true
		case !errors.Is(err, fs.ErrNotExist):
			return err
		case begun && name != usersKey:
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		slices.Reverse(missing)
		return fmt.Errorf("%s: found no %s, expected the keys of the cluster that is there, since servers and users are good with no others: put them back from a backup, or write a new cluster into another directory",
			keys, strings.Join(missing, ", "))
	}
	return caErr
}

// openIdentities reads the keys in a directory, and makes those that are missing.
func openIdentities(dir string) (id identities, err error) {
	for i, make := range []func() (nkeys.KeyPair, error){nkeys.CreateOperator, nkeys.CreateAccount, nkeys.CreateAccount, nkeys.CreateAccount} {
		path := filepath.Join(dir, keyFiles[i])
		pair, err := readKey(path)
		if errors.Is(err, fs.ErrNotExist) {
			pair, err = makeKey(path, make)
		}
		if err != nil {
			return id, err
		}
		*[]*nkeys.KeyPair{&id.operator, &id.account, &id.users, &id.system}[i] = pair
	}
	return id, nil
}

// readKey reads a key. The error wraps fs.ErrNotExist if it is not there.
func readKey(path string) (nkeys.KeyPair, error) {
	seed, err := secret.ReadFile(path)
	if err != nil {
		return nil, err
	}
	pair, err := nkeys.FromSeed(seed)
	if err != nil {
		return nil, fmt.Errorf("%s: found no key (%w), expected one that init cluster has written", path, err)
	}
	return pair, nil
}

func makeKey(path string, create func() (nkeys.KeyPair, error)) (nkeys.KeyPair, error) {
	pair, err := create()
	if err != nil {
		return nil, err
	}
	seed, err := pair.Seed()
	if err != nil {
		return nil, err
	}
	return pair, durable.WritePrivate(path, append(seed, '\n'))
}

// authority is what the servers' configuration has of identities.
type authority struct {
	Operator      string // the operator's claims, signed by itself
	Account       string // public key of the account of the run
	AccountClaims string // signed by the operator
	System        string // public key of the servers' own account
	SystemClaims  string
}

// authority returns the claims of a run, which stay those in dir as long as they say the
// same: a server refuses to load a configuration in which the operator's are others, and
// only starts again with it.
func (id *identities) authority(dir, run string) (a authority, err error) {
	operator, err := id.operator.PublicKey()
	if err == nil {
		a.Account, err = id.account.PublicKey()
	}
	if err == nil {
		a.System, err = id.system.PublicKey()
	}
	var users string
	if err == nil {
		users, err = id.users.PublicKey()
	}
	if err != nil {
		return a, err
	}
	op := jwt.NewOperatorClaims(operator)
	op.Name, op.SystemAccount = run, a.System
	account := jwt.NewAccountClaims(a.Account)
	account.Name = run
	account.SigningKeys.Add(users)
	account.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: jwt.NoLimit, DiskStorage: jwt.NoLimit, Streams: jwt.NoLimit, Consumer: jwt.NoLimit}
	system := jwt.NewAccountClaims(a.System)
	system.Name = "SYS"
	for _, c := range []struct {
		name   string
		claims jwt.Claims
		to     *string
	}{{"operator", op, &a.Operator}, {"account", account, &a.AccountClaims}, {"system", system, &a.SystemClaims}} {
		if *c.to, err = keptClaims(filepath.Join(dir, c.name+".jwt"), c.claims, id.operator); err != nil {
			return a, err
		}
	}
	return a, nil
}

// keptClaims returns the signed claims in a file, or if they do not say the same, signs new
// ones and writes them there.
func keptClaims(path string, claims jwt.Claims, signer nkeys.KeyPair) (string, error) {
	signed, err := claims.Encode(signer)
	if err != nil {
		return "", err
	}
	old, err := os.ReadFile(path)
	if err == nil && sameClaims(string(old), signed) {
		return string(old), nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return signed, durable.WriteFile(path, []byte(signed))
}

// sameClaims reports whether two texts are good claims that differ at most in when they
// were signed.
func sameClaims(a, b string) bool {
	var said [2]jwt.Claims
	for i, text := range []string{a, b} {
		var err error
		if said[i], err = jwt.Decode(text); err != nil {
			return false
		}
		said[i].Claims().ID, said[i].Claims().IssuedAt = "", 0
	}
	return reflect.DeepEqual(said[0], said[1])
}

// writeUser writes the credentials of a user into a file, with the key that the file
// has, or a new one. It is signed by a key of the account. A file that says the same
// already stays.
func writeUser(path, name, account string, signer nkeys.KeyPair, rights bus.Rights) error {
	pair, before, err := readUser(path)
	if err != nil {
		return err
	}
	public, err := pair.PublicKey()
	if err != nil {
		return err
	}
	user := jwt.NewUserClaims(public)
	user.Name, user.IssuerAccount = name, account
	user.Pub.Allow.Add(rights.Publish...)
	user.Sub.Allow.Add(append([]string{bus.InboxPrefix + name + ".>"}, rights.Subscribe...)...)
	if rights.Answers {
		user.Resp = &jwt.ResponsePermission{MaxMsgs: 1, Expires: answerWithin}
	}
	claims, err := user.Encode(signer)
	if err != nil || sameClaims(before, claims) {
		return err
	}
	seed, err := pair.Seed()
	if err != nil {
		return err
	}
	text, err := jwt.FormatUserConfig(claims, seed)
	if err != nil {
		return err
	}
	return durable.WritePrivate(path, text)
}

// readUser returns the key and the claims of the user in a file, or a new key if there is
// no file.
func readUser(path string) (pair nkeys.KeyPair, claims string, err error) {
	text, err := secret.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		pair, err = nkeys.CreateUser()
		return pair, "", err
	}
	if err != nil {
		return nil, "", err
	}
	if pair, err = jwt.ParseDecoratedUserNKey(text); err == nil {
		claims, err = jwt.ParseDecoratedJWT(text)
	}
	if err != nil {
		return nil, "", fmt.Errorf("%s: found no key of a user (%w), expected credentials that init cluster has written", path, err)
	}
	return pair, claims, nil
}
