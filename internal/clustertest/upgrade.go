//go:build unix

package clustertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// laterMessages makes a build of the program put a key into every message between roles
// that no build knows, as a later one may.
const (
	laterKey      = "of_a_later_build"
	laterMessages = "-w -X github.com/crazyhouse-rl/selfplay/selfplay.laterKey=" + laterKey + " -X main.version=later"
)

// BuildLater compiles into dir a program that speaks as a later build may.
func BuildLater(ctx context.Context, dir string) (path string, err error) {
	root, err := moduleRoot(ctx)
	if err != nil {
		return "", err
	}
	if path, err = filepath.Abs(filepath.Join(dir, "selfplay-later")); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-ldflags", laterMessages, "-o", path, "./cmd/selfplay")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build a later program: %w\n%s", err, out)
	}
	// The linker says nothing of a variable that is not there.
	if program, err := os.ReadFile(path); err != nil || !bytes.Contains(program, []byte(laterKey)) {
		return "", errors.Join(fmt.Errorf("%s does not have the key %s", path, laterKey), err)
	}
	return path, nil
}

// UpgradeInTurn ends the roles of a running cluster in order, one after the other, and
// starts each again with another program, the trainer last: it gives the run settings that
// others may not know. The last actor stays what it is. While both builds work together
// games are finished and stored, and at the end another net is published.
func (c *Cluster) UpgradeInTurn(ctx context.Context, program string) error {
	if err := c.awaitGeneration(ctx, 1); err != nil {
		return err
	}
	for _, p := range slices.Concat(c.actors[:len(c.actors)-1], []*Process{c.replay}, c.gates, []*Process{c.trainer}) {
		if err := c.awaitRoles(ctx); err != nil {
			return err
		}
		if err := p.End(endPatience); err != nil {
			return err
		}
		c.watch.Look()
		p.path = program
		if err := p.Start(); err != nil {
			return err
		}
		if err := c.awaitGames(ctx, gamesBetween); err != nil {
			return fmt.Errorf("after %s was upgraded: %w", p.Name, err)
		}
		c.opt.Log.Info("upgraded", "process", p.Name, "finished", c.watch.Games())
	}
	stored, err := c.bufferBytes()
	if err != nil {
		return err
	}
	err = c.await(ctx, "a replay buffer that grows after the upgrade", func() (bool, error) {
		now, err := c.bufferBytes()
		return now > stored, err
	})
	if err != nil {
		return err
	}
	generation, err := c.generation()
	if err != nil {
		return err
	}
	return c.awaitGeneration(ctx, generation+1)
}
