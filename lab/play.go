package lab

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/match"
	"github.com/crazyhouse-rl/selfplay/player"
	"github.com/crazyhouse-rl/selfplay/search"
)

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// Settings of all games, those of the command match.
const (
	hashMB   = 4
	maxPlies = 400
	winScore = 2500 // centipawns
	winPlies = 6

	drawMinPly = 80 // of no effect, but in the log

	timeMargin = 20 * time.Millisecond
)

// Player is one that nets meet, or a net itself.
type Player struct {
	Name  string // in reports
	Key   string // identifies what plays, apart from limits: of a net that of its training
	Elo   *float64
	SD    float64       // how sure Elo is, its standard deviation; 0 fixes it
	Maker *player.Maker // of an anchor; nets are read when they play

	text      string // as the command match takes it, without limits
	ownLimits bool
}

// Stage is a kind of games: at fixed nodes, at fixed time, or against the ladder.
type Stage string

// Stages of a comparison, in the order in which they are played.
const (
	AtNodes Stage = "nodes"
	AtTime  Stage = "time"
	Ladder  Stage = "ladder"
)

// Meeting is the games of two players, a cell. In a stage with a round robin net s of a row
// meets net s of every other row and every anchor.
type Meeting struct {
	Stage  Stage
	Seed   int    // index of the nets' seed
	A, B   int    // indices of players of the stage: rows, then anchors; A < B
	Key    string // of the cell
	Pairs  int
	Limits [2]search.Limits // of A and B

	swapped bool // in the log B comes first
	players [2]Player
}

// anchors loads the players that all nets meet.
func anchors(ctx context.Context, list []configs.Opponent, v *chess.Variant, nodes uint64) ([]Player, error) {
	var players []Player
	for _, o := range list {
		if o.Player.Search.Foreign() && o.Player.Dir == "" { // found missing now, not when nets are trained
			if _, err := exec.LookPath(o.Player.Command[0]); err != nil {
				return nil, fmt.Errorf("anchor %s: %w", o.Name, err)
			}
		}
		m, err := o.Player.Load(ctx, v, player.Defaults{Limits: search.Limits{Nodes: max(nodes, 1)}, HashMB: hashMB})
		if err != nil {
			return nil, fmt.Errorf("anchor %s: %w", o.Name, err)
		}
		bare := o.Player
		bare.Limits = search.Limits{}
		p := Player{
			Name: o.Name, Key: keyOf([]string{bare.String(), m.Net}), Elo: o.Elo, Maker: m,
			text: bare.String(), ownLimits: o.Player.HasLimits(),
		}
		for _, before := range players {
			if before.Key == p.Key && reflect.DeepEqual(before.Maker.Limits, m.Limits) {
				return nil, fmt.Errorf("%w: anchors %s and %s: found the same player, expected different ones", configs.ErrInvalid, before.Name, o.Name)
			}
		}
		players = append(players, p)
	}
	return players, nil
}

// readLadder reads the opponents of the strength ladder and loads them.
func (p *Plan) readLadder(ctx context.Context) error {
	p.ladder = configs.DefaultLadder()
	if name := p.Games.Rungs; name != "" {
		text, err := configs.ReadFile(name)
		if err != nil {
			return err
		}
		if p.ladder, err = configs.ParseLadder(text, name); err != nil {
			return err
		}
	}
	if p.ladder.Variant != p.Variant {
		return fmt.Errorf("%w: found a ladder of %s, expected one of %s; name its file in games.rungs", configs.ErrInvalid, p.ladder.Variant, p.Variant)
	}
	var list []configs.Opponent
	for i := range p.ladder.Anchors {
		a := &p.ladder.Anchors[i]
		list = append(list, configs.Opponent{Name: a.Name, Player: a.Player, Elo: &a.Elo})
	}
	var err error
	if p.rungs, err = anchors(ctx, list, p.variant, p.ladder.Nodes); err != nil {
		return err
	}
	for i := range p.rungs {
		a := &p.ladder.Anchors[i]
		p.rungs[i].SD = a.SD
		if a.Engine == "" {
			continue
		}
		if err := match.CheckEngine(p.rungs[i].Maker, a.Engine); err != nil {
			return fmt.Errorf("anchor %s: %w; put that engine on the PATH, or name a ladder of your own in games.rungs", a.Name, err)
		}
	}
	return nil
}

// netPlayer returns net s of a row as a player.
func (p *Plan) netPlayer(row, s int) Player {
	n := &p.Nets[row][s]
	text := p.netFile(n)
	if n.Config.Kind == configs.Planes {
		text = "mcts:" + text
	}
	return Player{Name: p.Rows[row].Name, Key: n.Key, text: text}
}

// load opens what a player needs.
func (p *Plan) load(ctx context.Context, pl *Player) (*player.Maker, error) {
	if pl.Maker != nil {
		return pl.Maker, nil
	}
	spec, err := player.Parse(pl.text)
	if err != nil {
		return nil, err
	}
	return spec.Load(ctx, p.variant, player.Defaults{Limits: search.Limits{Nodes: 1}, HashMB: hashMB})
}

// Stages are those that the comparison asks for.
func (p *Plan) Stages() []Stage {
	var stages []Stage
	if p.Games.Nodes > 0 {
		stages = append(stages, AtNodes)
	}
	if p.Games.Time > 0 {
		stages = append(stages, AtTime)
	}
	if p.Games.Ladder > 0 {
		stages = append(stages, Ladder)
	}
	return stages
}

// pairs is how many pairs two players of a stage play.
func (p *Plan) pairs(stage Stage) int {
	if stage == Ladder {
		return p.Games.Ladder
	}
	return p.Games.Pairs
}

// opponents returns the anchors of a stage, and the nodes of nets in it; of fixed time 0.
func (p *Plan) opponents(stage Stage) ([]Player, uint64) {
	switch stage {
	case Ladder:
		return p.rungs, p.ladder.Nodes
	case AtTime:
		return p.Anchors, 0
	}
	return p.Anchors, p.Games.Nodes
}

// Meetings returns the games of a stage. Speeds are needed at fixed time: a player's limit is
// the nodes that it searches in that time when nothing disturbs it, so that a busy machine
// decides nothing. A row has one speed, that of its first net.
func (p *Plan) Meetings(stage Stage, speeds map[string]Speed) []Meeting {
	opponents, nodes := p.opponents(stage)
	limits := func(pl *Player, speedKey string) search.Limits {
		switch {
		case pl.ownLimits:
			return pl.Maker.Limits
		case stage != AtTime:
			return search.Limits{Nodes: nodes}
		case pl.Maker != nil && pl.Maker.Spec.Search.Foreign():
			return search.Limits{MoveTime: p.Games.Time}
		}
		return search.Limits{Nodes: nodesIn(p.Games.Time, speeds[speedKey], speeds[materialKey])}
	}
	var list []Meeting
	for s := range p.Seeds {
		var players []Player
		var bounds []search.Limits
		for row := range p.Rows {
			pl := p.netPlayer(row, s)
			players, bounds = append(players, pl), append(bounds, limits(&pl, p.Nets[row][0].Key))
		}
		for i := range opponents {
			players, bounds = append(players, opponents[i]), append(bounds, limits(&opponents[i], opponents[i].Key))
		}
		for a := range p.Rows {
			for b := a + 1; b < len(players); b++ {
				if stage == Ladder && b < len(p.Rows) {
					continue // nets meet the ladder only
				}
				m := Meeting{
					Stage: stage, Seed: s, A: a, B: b, Pairs: p.pairs(stage),
					Limits: [2]search.Limits{bounds[a], bounds[b]}, players: [2]Player{players[a], players[b]},
				}
				m.swapped = players[b].Key < players[a].Key
				m.Key = keyOf(p.conditions(&m))
				list = append(list, m)
			}
		}
	}
	return list
}

// conditions is everything that the games of a meeting follow from, whatever the order of
// its players.
func (p *Plan) conditions(m *Meeting) []string {
	words := []string{p.Variant, p.openings.ID, fmt.Sprint(p.Games.Seed), fmt.Sprint(hashMB, maxPlies, winScore, winPlies)}
	for _, i := range m.order() {
		words = append(words, m.players[i].Key, game.LimitsText(m.Limits[i]))
	}
	return words
}

// order returns the indices of the players in the order of the log.
func (m *Meeting) order() [2]int {
	if m.swapped {
		return [2]int{1, 0}
	}
	return [2]int{0, 1}
}

// config is the match of a meeting. Its nets must be trained.
func (p *Plan) config(ctx context.Context, m *Meeting) (match.Config, error) {
	cfg := match.Config{
		Variant: p.variant, Openings: p.openings, Pairs: m.Pairs, Seed: p.Games.Seed, Concurrency: 1,
		Game: game.Config{MaxPlies: maxPlies, WinScore: winScore, WinPlies: winPlies, DrawMinPly: drawMinPly, TimeMargin: timeMargin},
		Log:  p.cell("games", m.Key+".jsonl"),

		FailureEnds: true,
	}
	for _, i := range m.order() {
		maker, err := p.load(ctx, &m.players[i])
		if err != nil {
			return cfg, err
		}
		c := match.NewContestant(maker)
		c.Name, c.Limits = contestantName(&m.players[i]), m.Limits[i]
		c.Fresh = maker.Spec.Search.Foreign() && c.Limits.MoveTime == 0
		cfg.Players = append(cfg.Players, c)
	}
	return cfg, nil
}

// failed says what became of a meeting one of whose players failed.
func (m *Meeting) failed(e *match.FailureError) error {
	k := 0
	if e.Player == contestantName(&m.players[1]) {
		k = 1
	}
	return fmt.Errorf("games %s: %s failed against %s, in game %d of pair %d after %d plies: %s: the pair does not count; mend the player and give the same command to go on",
		m.Key, m.players[k].Name, m.players[1-k].Name, e.Game+1, e.Pair+1, e.Plies, e.Failure)
}

// contestantName names a player in a log by what it is, so that rows may be renamed.
func contestantName(pl *Player) string { return "player-" + pl.Key }

// log reads the results of a meeting, by opening, the versions of the program that played, and
// how many of its pairs are there.
func (p *Plan) log(m *Meeting) (pairs []match.Pair, builds []string, found int, err error) {
	f, err := os.Open(p.cell("games", m.Key+".jsonl"))
	if os.IsNotExist(err) {
		return nil, nil, 0, nil
	}
	if err != nil {
		return nil, nil, 0, err
	}
	defer f.Close()
	log, err := match.ReadLog(f)
	if err != nil {
		return nil, nil, 0, nil //nolint:nilerr // begun and not gone far: the match goes on with it or says what is wrong
	}
	pairs = make([]match.Pair, m.Pairs)
	for _, pair := range log.Pairs {
		if pair.Number < m.Pairs {
			pairs[pair.Number] = pair
			found++
		}
	}
	return pairs, log.Builds, found, nil
}

// Command is what plays the games of a meeting again.
func (p *Plan) Command(m *Meeting) []string {
	words := []string{"selfplay", "match"}
	for _, i := range m.order() {
		text := m.players[i].text
		for _, limit := range limitWords(m.Limits[i]) {
			text += "," + limit
		}
		words = append(words, text+",name="+contestantName(&m.players[i]))
	}
	words = append(words, "--games", fmt.Sprint(2*m.Pairs), "--seed", fmt.Sprint(p.Games.Seed))
	if p.Variant != chess.Crazyhouse.Name {
		words = append(words, "--variant", p.Variant)
	}
	if p.Games.Book != "" {
		words = append(words, "--book", p.Games.Book)
	}
	return words
}

// limitWords are limits as players have them.
func limitWords(l search.Limits) []string {
	s := player.Spec{Search: player.AlphaBeta, Net: player.Material, Limits: l}
	return strings.Split(strings.TrimPrefix(s.String(), player.Material), ",")[1:]
}
