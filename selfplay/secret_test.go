package selfplay

import (
	"bytes"
	"context"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/configs"
)

// A secret that a file holds is nowhere in what a run writes and logs: not in its
// directory, not in its settings for others, not in errors of connections.
func TestNoSecretIsWritten(t *testing.T) {
	t.Parallel()
	const planted = "Tr0ub4dorAnd3"
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte(planted+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	o := Options{Build: "test", Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})), Patience: 2 * time.Second}
	dir := filepath.Join(t.TempDir(), "run")
	cfg := smallConfig(t)
	cfg.Bus.Listen, cfg.Bus.TokenFile = "127.0.0.1:0", token
	r, err := Open(t.Context(), dir, cfg, o)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	texts := map[string][]byte{"effective settings": cfg.YAML(), "shared settings": configs.Shared(cfg)}

	// Others come with another secret, or with one in the address.
	other := filepath.Join(t.TempDir(), "other")
	if err := os.WriteFile(other, []byte(planted+"5"), 0o600); err != nil {
		t.Fatal(err)
	}
	own := preset(t, "laptop")
	own.Bus.URL, own.Bus.TokenFile, own.Run.Name = "nats://"+r.conn.Addr(), other, "run"
	_, err = ChooseNet(t.Context(), "", own, o)
	if err == nil {
		t.Fatal("a wrong token was accepted")
	}
	texts["wrong token"] = []byte(err.Error())
	own.Bus.URL = "nats://me:" + planted + "@" + r.conn.Addr()
	_, err = ChooseNet(t.Context(), "", own, o)
	if err == nil {
		t.Fatal("an address with a password was accepted")
	}
	texts["password"] = []byte(err.Error())
	texts["check"] = []byte(Check(own).Error())

	if err := r.Loop(t.Context(), Limits{Games: 4}); err != nil && context.Cause(t.Context()) == nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	texts["log"] = log.Bytes()
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		texts[path], err = os.ReadFile(path)
		return err
	})
	if err != nil || len(texts) < 12 {
		t.Fatalf("found %d texts, error %v", len(texts), err)
	}
	for name, text := range texts {
		if bytes.Contains(text, []byte(planted)) {
			t.Errorf("%s shows the secret", name)
		}
	}
}
