package selfplay

import (
	"fmt"
	gonet "net"
	"net/netip"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/internal/check"
	"github.com/crazyhouse-rl/selfplay/match"
	"github.com/crazyhouse-rl/selfplay/planes/runtimes"
	"github.com/crazyhouse-rl/selfplay/search/option"
	"github.com/crazyhouse-rl/selfplay/trainer"
	"github.com/crazyhouse-rl/selfplay/trainer/run"
)

// Check reports every setting by which no run can be made, each by its key. Open
// refuses the same. Errors wrap configs.ErrInvalid or are those of the packages that
// the settings are for.
func Check(cfg configs.Config) error {
	wrong := check.Of(configs.ErrInvalid)
	wrong.Add(cfg.Validate())
	checkActor(wrong, cfg)
	checkTree(wrong, cfg.Actor.Tree)
	checkBus(wrong, cfg.Bus)
	if p := cfg.Run.Protocol; p != 0 {
		check.Within(wrong, "run.protocol", p, bus.MinProtocol, bus.Protocol)
	}
	buffer := replayOptions(chess.Crazyhouse, cfg.Replay, "") // of any variant and run
	wrong.Add(check.Under("replay.", buffer.Validate()))
	check.Natural(wrong, "replay.actor_games_per_minute", cfg.Replay.ActorGamesPerMinute)
	check.Natural(wrong, "replay.actor_games_per_day", cfg.Replay.ActorGamesPerDay)
	checkTrain(wrong, cfg)
	checkGate(wrong, cfg.Gate)
	checkAllocator(wrong, cfg)
	return wrong.Err()
}

func checkActor(wrong *check.List, cfg configs.Config) {
	a := cfg.Actor
	if kinds := map[string]string{configs.NNUE: configs.AlphaBeta, configs.Planes: configs.TreeSearch}; kinds[cfg.Net.Kind] != "" {
		wrong.That(a.Search == kinds[cfg.Net.Kind], "actor.search", a.Search, kinds[cfg.Net.Kind]+", which nets of kind "+cfg.Net.Kind+" play with")
	}
	check.Within(wrong, "actor.workers", a.Workers, 1, 1024)
	check.Positive(wrong, "actor.nodes", a.Nodes)
	if a.QuickNodes > 0 {
		wrong.That(a.Search == configs.AlphaBeta, "actor.quick_nodes", a.QuickNodes, "0 with actor.search mcts: quick searches are actor.tree.full_share and .fast_nodes there")
		wrong.That(a.QuickNodes < a.Nodes, "actor.quick_nodes", a.QuickNodes, "fewer than actor.nodes")
	}
	check.Within(wrong, "actor.hash_mb", a.HashMB, 1, maxHashMB)
	wrong.That(a.OpeningMin >= 0 && a.OpeningMin <= a.OpeningMax, "actor.opening_min", a.OpeningMin, "0 to actor.opening_max")
	wrong.That(a.OpeningMax <= 64, "actor.opening_max", a.OpeningMax, "at most 64")
	wrong.That(a.MaxPlies > a.OpeningMax && a.MaxPlies <= 4096, "actor.max_plies", a.MaxPlies, "more than actor.opening_max, at most 4096")
	check.Positive(wrong, "actor.opening_score", a.OpeningScore)
	wrong.That(a.Book != "", "actor.book", a.Book, "default, none or a file")
	check.Within(wrong, "actor.book_share", a.BookShare, 0, 1)
	check.Natural(wrong, "actor.random_plies", a.RandomPlies)
	check.Within(wrong, "actor.random_prob", a.RandomProb, 0, 1)
	check.Within(wrong, "actor.play_out_share", a.PlayOutShare, 0, 1)
	check.Natural(wrong, "actor.win_score", a.WinScore)
	check.Positive(wrong, "actor.win_plies", a.WinPlies)
	check.Within(wrong, "actor.research_share", a.ResearchShare, 0, 1)
	if a.ResearchShare > 0 {
		wrong.That(a.Search == configs.AlphaBeta, "actor.research_share", a.ResearchShare, "0 with actor.search mcts: full searches of a share of the positions are actor.tree.full_share there")
		wrong.That(a.ResearchNodes > a.MostNodes(), "actor.research_nodes", a.ResearchNodes, "more than actor.nodes and those of actor.nodes_growth")
		wrong.That(a.MaxPlies <= game.MaxResearchPlies, "actor.max_plies", a.MaxPlies, fmt.Sprintf("at most %d while actor.research_share is above 0", game.MaxResearchPlies))
	}
	check.Within(wrong, "actor.older_share", a.OlderShare, 0, 1)
	check.Within(wrong, "actor.older_nets", a.OlderNets, 1, 50)
	wrong.That(a.OlderShare == 0 || a.Search == configs.AlphaBeta, "actor.older_share", a.OlderShare, "0 with actor.search mcts")
	check.Positive(wrong, "actor.spool_max_games", a.SpoolMaxGames)
}

func checkTree(wrong *check.List, t configs.Tree) {
	for _, o := range option.All(&t.Options) {
		wrong.Because("actor.tree."+o.Key, o.Check())
	}
	check.Within(wrong, "actor.tree.threads", t.Threads, 1, 1024)
	wrong.Because("actor.tree.runtime", runtimes.Check(t.Runtime))
}

func checkBus(wrong *check.List, b configs.Bus) {
	own := b.URL == "" // server
	if !own {
		wrong.Because("bus.url", bus.CheckURL(b.URL))
	}
	wrong.That(own || b.Listen == "", "bus.listen", b.Listen, "nothing when bus.url is set")
	wrong.That(b.Listen == "" || hasPort(b.Listen), "bus.listen", b.Listen, "host:port")
	wrong.That(b.Listen == "" || b.TokenFile != "" || isLoopback(b.Listen), "bus.listen", b.Listen, "an address of this machine only (localhost, 127.0.0.1, ::1) while bus.token_file is empty")
	wrong.That(!own || b.Creds == "", "bus.creds", b.Creds, "nothing while bus.url is empty")
	wrong.That(!own || b.TLSCA == "", "bus.tls_ca", b.TLSCA, "nothing while bus.url is empty")
	wrong.That(b.Replicas == 1 || b.Replicas == 3 || b.Replicas == 5, "bus.replicas", b.Replicas, "1, 3 or 5")
	wrong.That(!own || b.Replicas == 1, "bus.replicas", b.Replicas, "1 while bus.url is empty")
	check.Within(wrong, "bus.bundle_games", b.BundleGames, 1, 1024)
	wrong.That(b.MaxBytes >= 1<<20, "bus.max_bytes", b.MaxBytes, "at least 1 MiB")
	check.Positive(wrong, "bus.keep_nets", b.KeepNets)
}

func hasPort(listen string) bool {
	_, port, err := gonet.SplitHostPort(listen)
	return err == nil && port != ""
}

// isLoopback reports whether only this machine can reach the address listen.
func isLoopback(listen string) bool {
	host, _, err := gonet.SplitHostPort(listen)
	if err != nil {
		return false
	}
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

func checkTrain(wrong *check.List, cfg configs.Config) {
	t := cfg.Train
	wrong.Add(check.Under("train.", run.CheckSettings(cfg.Net.Kind, t.Settings, true)))
	check.Within(wrong, "train.held_out", t.HeldOut, 1, trainer.MaxBatch)
	check.Positive(wrong, "train.min_positions", t.MinPositions)
	check.Positive(wrong, "train.samples_per_row", t.SamplesPerRow)
	check.Positive(wrong, "train.steps_per_net", t.StepsPerNet)
	wrong.That(t.RenewGrowth == 0 || t.RenewGrowth > 1, "train.renew_growth", t.RenewGrowth, "0 or more than 1")
	wrong.That(t.RenewGrowth == 0 || cfg.Gate.Enabled, "train.renew_growth", t.RenewGrowth, "0 while gate.enabled is false, as a fresh net is worse than the one before at first")
	check.Natural(wrong, "train.renew_samples", t.RenewSamples)
	check.Positive(wrong, "train.per_game", t.PerGame)
	check.Within(wrong, "train.research_weight", t.ResearchWeight, 0.01, 100)
	_, relabel, err := relabelDepth(t.Relabel)
	wrong.Because("train.relabel", err)
	wrong.That(!relabel || cfg.Net.Kind != configs.Planes, "train.relabel", t.Relabel, configs.RelabelOff+" with planes, whose positions are not searched by alpha-beta")
	check.Within(wrong, "train.inside_share", t.InsideShare, 0, 1)
	wrong.That(t.InsideShare == 0 || relabel, "train.inside_share", t.InsideShare, "0 without train.relabel, whose searches these positions come from")
	check.Within(wrong, "train.tail_share", t.TailShare, 0, 1)
	check.Within(wrong, "train.tail_rate", t.TailRate, 0.0001, 1)
	check.Within(wrong, "train.tail_newest", t.TailNewest, 0.0001, 1)
	wrong.That(t.TailShare == 0 || cfg.Net.Kind != configs.Planes, "train.tail_share", t.TailShare, "0 with planes, whose nets are not trained through rounding")
	check.Positive(wrong, "train.checkpoint", t.Checkpoint)
}

func checkAllocator(wrong *check.List, cfg configs.Config) {
	a := cfg.Allocator
	wrong.That(!a.Enabled || cfg.Actor.Search == configs.AlphaBeta, "allocator.enabled", a.Enabled, "false with actor.search mcts, whose games share their evaluations")
	check.Within(wrong, "allocator.minutes", a.Minutes, 0.01, 1440)
	check.Within(wrong, "allocator.least_play", a.LeastPlay, 0.05, 0.9)
	check.Positive(wrong, "allocator.samples_per_row", a.SamplesPerRow)
	wrong.That(!a.Enabled || a.SamplesPerRow >= cfg.Train.SamplesPerRow, "allocator.samples_per_row", a.SamplesPerRow, fmt.Sprintf("at least train.samples_per_row, which is %g", cfg.Train.SamplesPerRow))
}

func checkGate(wrong *check.List, g configs.Gate) {
	check.Within(wrong, "gate.pairs", g.Pairs, 1, match.MaxPairs)
	check.Positive(wrong, "gate.nodes", g.Nodes)
	check.Positive(wrong, "gate.concurrency", g.Concurrency)
	wrong.Add(check.Under("gate.", gateTest(g).Validate()))
	check.OneOf(wrong, "gate.undecided", g.Undecided, configs.UndecidedElo, configs.UndecidedLLR, configs.UndecidedFail)
}
