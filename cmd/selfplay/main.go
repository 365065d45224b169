// Command selfplay teaches itself crazyhouse: actors play it, every game goes
// over NATS JetStream into a replay buffer, a trainer learns from that and
// publishes nets, and the actors pick those up.
//
// Each command, or group of commands, has a folder here. What they share is in
// internal/cli.
//
// Exit codes: 0 done, 1 failed or a check found something, 2 wrong usage, 3 a
// sequential test has not decided, 4 interrupted and to be continued by the
// same command, 130 interrupted before it could finish in order.
package main

import (
	"os"
	"runtime/debug"
	"slices"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/analyse"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/backup"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/bench"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/book"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/cluster"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/compare"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/config"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/dash"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/data"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/gensfen"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/learn"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/loop"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/match"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/net"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/play"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/position"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/puzzles"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/roles"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/tune"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/uci"
	versioncmd "github.com/crazyhouse-rl/selfplay/cmd/selfplay/version"
)

// version is set by the linker; see build.
var version = ""

// build names the program's version: the linker's word, else the commit the Go
// tool recorded, else "devel".
func build() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				return s.Value[:min(len(s.Value), 12)]
			}
		}
	}
	return "devel"
}

func main() {
	os.Exit(cli.Run(newRoot(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// newRoot assembles all commands. They find the program's version in the root's.
func newRoot() *cobra.Command {
	root := loop.New()
	root.Version = build()
	root.AddCommand(slices.Concat(
		uci.Commands(), analyse.Commands(), play.Commands(), match.Commands(), tune.Commands(), book.Commands(), puzzles.Commands(),
		gensfen.Commands(), learn.Commands(), compare.Commands(), data.Commands(),
		net.Commands(), position.Commands(), bench.Commands(), config.Commands(), dash.Commands(), roles.Commands(data.NewReplayAudit()), cluster.Commands(), backup.Commands(), versioncmd.Commands(),
	)...)
	return root
}
