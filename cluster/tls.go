package cluster

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/crazyhouse-rl/selfplay/internal/durable"
	"github.com/crazyhouse-rl/selfplay/internal/secret"
)

const (
	authorityYears = 10
	serverDays     = 730                 // of the servers' certificate
	clockSkew      = time.Hour           // a certificate is valid since that time before it was made
	renewBefore    = 30 * 24 * time.Hour // of its end a certificate is renewed
)

// Files of certificates. Keys are private.
const (
	authorityFile = "ca.pem"
	authorityKey  = "ca.key"
	serverFile    = "server.pem"
	serverKey     = "server.key"
)

// pair is a certificate and its key.
type pair struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// writeCertificates makes an authority and a certificate of all servers where there is
// none, and a new one of the servers if renew asks for it, if the old one ends soon, is
// not of these names or not of this authority. The authority's certificate is in dir, all
// else in keys. It returns when that of the servers ends.
func writeCertificates(dir, keys string, names []string, renew bool, now time.Time) (time.Time, error) {
	ca, err := openAuthority(filepath.Join(dir, authorityFile), filepath.Join(keys, authorityKey), now)
	if err != nil {
		return time.Time{}, err
	}
	path, key := filepath.Join(keys, serverFile), filepath.Join(keys, serverKey)
	s, err := readPair(path, key)
	if errors.Is(err, secret.ErrMode) {
		return time.Time{}, err
	}
	if err != nil || renew || !s.fits(ca, names, now) { // a half that was written when a process was killed is no loss
		if s, err = newServer(path, key, ca, names, now); err != nil {
			return time.Time{}, err
		}
	}
	return s.cert.NotAfter, nil
}

// fits reports whether a certificate need not be renewed.
func (p *pair) fits(ca *pair, names []string, now time.Time) bool {
	if p.cert.CheckSignatureFrom(ca.cert) != nil || now.Add(renewBefore).After(p.cert.NotAfter) {
		return false
	}
	return !slices.ContainsFunc(names, func(name string) bool { return p.cert.VerifyHostname(name) != nil })
}

// openAuthority reads the authority, or makes one where there is neither certificate nor
// key. Everyone trusts the one that was there.
func openAuthority(path, keyPath string, now time.Time) (*pair, error) {
	ca, err := findAuthority(path, keyPath)
	if ca == nil && err == nil {
		return newAuthority(path, keyPath, now)
	}
	return ca, err
}

// findAuthority reads the authority, which is nil where there is neither certificate nor
// key.
func findAuthority(path, keyPath string) (*pair, error) {
	_, noCert := os.Stat(path)
	_, noKey := os.Stat(keyPath)
	if errors.Is(noCert, fs.ErrNotExist) && errors.Is(noKey, fs.ErrNotExist) {
		return nil, nil
	}
	ca, err := readPair(path, keyPath)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: every machine trusts this authority: put the file back from a backup, or remove both %s and %s and give all machines new ones", err, path, keyPath)
	}
	return ca, err
}

func newAuthority(path, keyPath string, now time.Time) (*pair, error) {
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: "selfplay-ca"}, NotBefore: now.Add(-clockSkew), NotAfter: now.AddDate(authorityYears, 0, 0),
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}
	return makePair(path, keyPath, template, nil)
}

// newServer makes one certificate for all servers: each tells clients the addresses of
// the others, which are then looked for in it. A server is a client of the others too.
func newServer(path, keyPath string, ca *pair, names []string, now time.Time) (*pair, error) {
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: "selfplay"}, NotBefore: now.Add(-clockSkew), NotAfter: now.AddDate(0, 0, serverDays),
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	return makePair(path, keyPath, template, ca)
}

// makePair makes a key and a certificate of it, signed by an authority or by itself,
// and writes them, the key first.
func makePair(path, keyPath string, template *x509.Certificate, ca *pair) (*pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120)); err != nil {
		return nil, err
	}
	if ca == nil {
		ca = &pair{template, key}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, ca.cert, &key.PublicKey, ca.key)
	if err != nil {
		return nil, err
	}
	secretDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	if err := durable.WritePrivate(keyPath, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secretDER})); err != nil {
		return nil, err
	}
	if err := durable.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})); err != nil {
		return nil, err
	}
	return readPair(path, keyPath)
}

// readPair reads a certificate and its key. The error wraps fs.ErrNotExist if either is
// not there.
func readPair(path, keyPath string) (*pair, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	secretText, err := secret.ReadFile(keyPath)
	if err != nil {
		return nil, err
	}
	wrong := func(path string, err error) error {
		return fmt.Errorf("%s: found no certificate and key of init cluster (%v): put the file back from a backup", path, err)
	}
	block, _ := pem.Decode(text)
	keyBlock, _ := pem.Decode(append(secretText, '\n'))
	if block == nil || keyBlock == nil {
		return nil, wrong(path, errors.New("it is not PEM"))
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, wrong(path, err)
	}
	key, err := x509.ParsePKCS8PrivateKey(keyBlock.Bytes)
	if err != nil {
		return nil, wrong(keyPath, err)
	}
	private, ok := key.(*ecdsa.PrivateKey)
	if !ok || !private.PublicKey.Equal(cert.PublicKey) {
		return nil, wrong(keyPath, errors.New("the key is of another certificate"))
	}
	return &pair{cert, private}, nil
}
