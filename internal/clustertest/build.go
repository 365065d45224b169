//go:build unix

package clustertest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Programs are the files that a cluster runs.
type Programs struct {
	Selfplay string
	Server   string // nats-server, of the version that this program embeds
}

// Build compiles both programs into dir from the module that the working directory
// belongs to, with further flags of go build.
func Build(ctx context.Context, dir string, flags ...string) (Programs, error) {
	root, err := moduleRoot(ctx)
	if err != nil {
		return Programs{}, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return Programs{}, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return Programs{}, err
	}
	p := Programs{Selfplay: filepath.Join(dir, "selfplay"), Server: filepath.Join(dir, "nats-server")}
	for path, pkg := range map[string]string{p.Selfplay: "./cmd/selfplay", p.Server: "github.com/nats-io/nats-server/v2"} {
		cmd := exec.CommandContext(ctx, "go", slices.Concat([]string{"build", "-o", path}, flags, []string{pkg})...)
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			return Programs{}, fmt.Errorf("build %s: %w\n%s", pkg, err, out)
		}
	}
	return p, nil
}

func moduleRoot(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOMOD: %w", err)
	}
	file := strings.TrimSpace(string(out))
	if file == "" || file == os.DevNull {
		return "", fmt.Errorf("found no go.mod, expected the working directory to be in the program's module")
	}
	return filepath.Dir(file), nil
}
