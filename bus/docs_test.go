package bus

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
)

// exampleConfig returns the example of a server's file in docs/cluster.md.
func exampleConfig(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../docs/cluster.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(page), "\n    server_name: n1\n")
	if !found {
		t.Fatal("docs/cluster.md has no example of a server's file")
	}
	text := "server_name: n1\n"
	for line := range strings.Lines(rest) {
		line, indented := strings.CutPrefix(line, "    ")
		if !indented && strings.TrimSpace(line) != "" {
			return text
		}
		text += line
	}
	return text
}

// replace replaces a text that must be there.
func replace(t *testing.T, text, old, young string) string {
	t.Helper()
	if !strings.Contains(text, old) {
		t.Fatalf("the example in docs/cluster.md has no %q:\n%s", old, text)
	}
	return strings.ReplaceAll(text, old, young)
}

// writeFiles writes a certificate of 127.0.0.1, its key and its authority's certificate
// as the example names them.
func (a authority) writeFiles(t *testing.T, dir string) {
	t.Helper()
	made := a.serverConfig(t).Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(made.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{
		"server.pem": {Type: "CERTIFICATE", Bytes: made.Certificate[0]},
		"server.key": {Type: "PRIVATE KEY", Bytes: key},
		"ca.pem":     {Type: "CERTIFICATE", Bytes: a.cert.Raw},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// Three servers of the file in docs/cluster.md, but for names, addresses and paths,
// hold a run with three copies.
func TestExampleOfTheDocs(t *testing.T) {
	const token, hash = "word-of-the-page", "$2a$04$1Mr5OnLfkfDLy2jrudqcS.1SySMh4X955dl8jMIE2DcB40I.PpiR2" // bcrypt of the token
	ca := newAuthority(t)
	clients, routes := make([]string, 3), make([]string, 3)
	for i := range clients {
		clients[i], routes[i] = freeAddr(t), freeAddr(t)
	}
	for i := range clients {
		files := t.TempDir()
		ca.writeFiles(t, files)
		text := replace(t, exampleConfig(t), "server_name: n1", fmt.Sprintf("server_name: n%d", i+1))
		text = replace(t, text, "/var/lib/nats", t.TempDir())
		text = replace(t, text, "/etc/nats", files)
		text = replace(t, text, "$2a$11$...", hash)
		text = replace(t, text, "0.0.0.0:4222", clients[i])
		text = replace(t, text, "127.0.0.1:8222", "127.0.0.1:-1")
		text = replace(t, text, "0.0.0.0:6222", routes[i])
		for j, route := range routes {
			text = replace(t, text, fmt.Sprintf("nats-route://n%d:6222", j+1), "nats-route://"+route)
		}
		path := filepath.Join(files, "nats.conf")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		o, err := server.ProcessConfigFile(path)
		if err != nil {
			t.Fatal(err)
		}
		o.NoSigs, o.NoLog = true, true
		s, err := server.NewServer(o)
		if err != nil {
			t.Fatal(err)
		}
		s.Start()
		t.Cleanup(func() {
			s.Shutdown()
			s.WaitForShutdown()
		})
	}
	url := "tls://" + strings.Join(clients, ",tls://")
	c := openConn(t, Options{URL: url, TLSCA: ca.file, TokenFile: secretFile(t, token)}) // waits for the cluster's leader
	b := joinRun(t, c, "test", JoinOptions{Replicas: 3})
	copies(t, c, "KV_test-ctl")
	publish(t, b, 1)
	openFails(t, Options{URL: url, TLSCA: ca.file, TokenFile: secretFile(t, token+"2")})
}
