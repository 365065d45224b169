package bus

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// authority is a certificate that signs others.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	file string // of the certificate
}

func certificate(t *testing.T, template, parent *x509.Certificate, key, signer *ecdsa.PrivateKey) []byte {
	t.Helper()
	template.SerialNumber = big.NewInt(time.Now().UnixNano())
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	a := authority{key: newKey(t), file: filepath.Join(t.TempDir(), "ca.pem")}
	template := &x509.Certificate{Subject: pkix.Name{CommonName: "test"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	der := certificate(t, template, template, a.key, a.key)
	var err error
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if err := os.WriteFile(a.file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	return a
}

// serverConfig is that of a server at 127.0.0.1, which is a client of others in a cluster.
func (a authority) serverConfig(t *testing.T) *tls.Config {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{Subject: pkix.Name{CommonName: "server"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	der := certificate(t, template, a.cert, key, a.key)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, MinVersion: tls.VersionTLS12}
}

func TestTLS(t *testing.T) {
	right, wrong := newAuthority(t), newAuthority(t)
	addr := startServer(t, &server.Options{JetStream: true, TLS: true, TLSTimeout: 2, TLSConfig: right.serverConfig(t)})
	plain := startServer(t, &server.Options{JetStream: true})
	for _, scheme := range []string{"nats://", "tls://"} {
		b := joinRun(t, openConn(t, Options{URL: scheme + addr, TLSCA: right.file}), "test", JoinOptions{})
		publish(t, b, 1)
	}
	noCertificate := secretFile(t, "no certificate")
	for what, tc := range map[string]struct {
		o    Options
		is   error
		want string
	}{
		"signed by another":   {Options{URL: "nats://" + addr, TLSCA: wrong.file}, ErrServer, "does not descend from those that are trusted"},
		"not of the system's": {Options{URL: "tls://" + addr}, ErrServer, "does not descend from those that are trusted"},
		"another host":        {Options{URL: "nats://" + strings.Replace(addr, "127.0.0.1", "localhost", 1), TLSCA: right.file}, ErrServer, "names another host"},
		"no TLS":              {Options{URL: "nats://" + plain, TLSCA: right.file}, ErrServer, "does not speak TLS"},
		"no file":             {Options{URL: "nats://" + addr, TLSCA: right.file + "2"}, ErrConfig, right.file + "2"},
		"no certificate":      {Options{URL: "nats://" + addr, TLSCA: noCertificate}, ErrConfig, noCertificate},
	} {
		err := openFails(t, tc.o)
		if !errors.Is(err, tc.is) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %q", what, err, tc.want)
		}
		isSaidAtOnce(t, what, err)
	}
}
