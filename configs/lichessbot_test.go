package configs

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/internal/leak"
	"github.com/crazyhouse-rl/selfplay/player"
	"github.com/crazyhouse-rl/selfplay/uci"
	"github.com/crazyhouse-rl/selfplay/uci/server"
)

// bridgeFile has the keys of lichess-bot, as its config.yml.default spells them, that our
// file sets.
type bridgeFile struct {
	Token  string `yaml:"token"`
	URL    string `yaml:"url"`
	Engine struct {
		Dir        string `yaml:"dir"`
		Name       string `yaml:"name"`
		WorkingDir string `yaml:"working_dir"`
		Protocol   string `yaml:"protocol"`
		Ponder     bool   `yaml:"ponder"`
		Polyglot   struct {
			Enabled bool `yaml:"enabled"`
		} `yaml:"polyglot"`
		DrawOrResign struct {
			ResignEnabled    bool `yaml:"resign_enabled"`
			ResignScore      int  `yaml:"resign_score"`
			ResignMoves      int  `yaml:"resign_moves"`
			OfferDrawEnabled bool `yaml:"offer_draw_enabled"`
		} `yaml:"draw_or_resign"`
		Options       map[string]any `yaml:"uci_options"`
		SilenceStderr bool           `yaml:"silence_stderr"`
	} `yaml:"engine"`
	AbortTime         int  `yaml:"abort_time"`
	FakeThinkTime     bool `yaml:"fake_think_time"`
	RateLimitingDelay int  `yaml:"rate_limiting_delay"`
	MoveOverhead      int  `yaml:"move_overhead"`
	QuitAfterAllGames bool `yaml:"quit_after_all_games_finish"`
	Challenge         struct {
		Concurrency  int      `yaml:"concurrency"`
		SortBy       string   `yaml:"sort_by"`
		AcceptBot    bool     `yaml:"accept_bot"`
		OnlyBot      bool     `yaml:"only_bot"`
		MaxIncrement int      `yaml:"max_increment"`
		MinIncrement int      `yaml:"min_increment"`
		MaxBase      int      `yaml:"max_base"`
		MinBase      int      `yaml:"min_base"`
		Variants     []string `yaml:"variants"`
		TimeControls []string `yaml:"time_controls"`
		Modes        []string `yaml:"modes"`
	} `yaml:"challenge"`
	Matchmaking struct {
		Allow bool `yaml:"allow_matchmaking"`
	} `yaml:"matchmaking"`
}

func readBridgeFile(t *testing.T) bridgeFile {
	t.Helper()
	text, err := os.ReadFile("lichess-bot.yml")
	if err != nil {
		t.Fatal(err)
	}
	var f bridgeFile
	if err := unmarshalStrictly(text, &f); err != nil {
		t.Fatal(err)
	}
	return f
}

// bridge drives our server as python-chess does for lichess-bot. It reads answers only
// when it waits for one, as a bridge may that is slow.
type bridge struct {
	t     *testing.T
	in    *io.PipeWriter
	lines *bufio.Scanner
	done  chan error
}

func newBridge(t *testing.T) *bridge {
	t.Helper()
	leak.Check(t)
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	b := &bridge{t: t, in: inW, lines: bufio.NewScanner(outR), done: make(chan error, 1)}
	go func() {
		err := server.Serve(t.Context(), inR, outW, server.Options{Net: player.NoNet(player.AlphaBeta)})
		outW.Close()
		b.done <- err
	}()
	t.Cleanup(func() {
		inW.Close()
		for b.lines.Scan() {
		}
	})
	return b
}

// send sends a command.
func (b *bridge) send(format string, args ...any) {
	b.t.Helper()
	if _, err := fmt.Fprintf(b.in, format+"\n", args...); err != nil {
		b.t.Fatal(err)
	}
}

// until returns the answers up to the first that begins with a word.
func (b *bridge) until(word string) []string {
	b.t.Helper()
	var all []string
	for b.lines.Scan() {
		all = append(all, b.lines.Text())
		if first, _, _ := strings.Cut(b.lines.Text(), " "); first == word {
			return all
		}
	}
	b.t.Fatalf("no %s in %q", word, all)
	return nil
}

// ready waits for readyok, before which nothing may be wrong.
func (b *bridge) ready() {
	b.t.Helper()
	b.send("isready")
	if all := b.until("readyok"); len(all) != 1 {
		b.t.Errorf("before readyok: %q", all)
	}
}

// move returns the line of a game with the engine's next move, and the reply that it
// expects, or any if it expects none.
func (b *bridge) move(l *chess.Line) (ponder string) {
	b.t.Helper()
	all := b.until("bestmove")
	f := strings.Fields(all[len(all)-1])
	m, err := l.Pos().ParseUCI(f[1])
	if err != nil {
		b.t.Fatal(err)
	}
	l.Push(m)
	if len(f) == 4 {
		return f[3]
	}
	var replies chess.MoveList
	l.Pos().Legal(&replies)
	return l.Pos().UCI(replies.Slice()[0])
}

// position sends the position of a game, with a move that is pondered about.
func (b *bridge) position(l *chess.Line, ponder string) {
	b.t.Helper()
	text := uci.AppendMoves([]byte("position startpos moves"), l.Start(), l.Moves())
	if ponder != "" {
		text = append(append(text, ' '), ponder...)
	}
	b.send("%s", text)
}

// A key of the bridge's file that is misspelt, at the top or inside, is found.
func TestBridgeFileIsReadStrictly(t *testing.T) {
	text, err := os.ReadFile("lichess-bot.yml")
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"move_overhead", "time_controls", "draw_or_resign", "resign_score"} {
		bad := strings.Replace(string(text), key+":", key+"s:", 1)
		if err := unmarshalStrictly([]byte(bad), new(bridgeFile)); err == nil || !strings.Contains(err.Error(), key+"s") {
			t.Errorf("%ss: found error %v", key, err)
		}
	}
}

// TestLichessBot plays some moves with the commands that lichess-bot's driver,
// python-chess, sends: the options of the file, then clocks, pondering, a hit, and a
// miss that is stopped.
func TestLichessBot(t *testing.T) {
	f := readBridgeFile(t)
	if f.Token != "TOKEN" || f.Engine.Protocol != "uci" || !f.Engine.Ponder || !slices.Equal(f.Challenge.Variants, []string{"crazyhouse"}) {
		t.Errorf("found %+v", f)
	}
	b := newBridge(t)
	b.send("uci")
	known := map[string]bool{}
	for _, line := range b.until("uciok") {
		if rest, ok := strings.CutPrefix(line, "option name "); ok {
			name, _, _ := strings.Cut(rest, " type ")
			known[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f.Engine.Options)) {
		if !known[name] {
			t.Errorf("the engine has no option %s", name)
		}
		b.send("setoption name %s value %v", name, f.Engine.Options[name])
	}
	b.send("setoption name UCI_Variant value crazyhouse")
	b.send("setoption name Ponder value true")
	b.ready()
	b.send("ucinewgame")
	b.ready()

	const clocks = "wtime 60000 btime 60000 winc 1000 binc 1000"
	game := chess.NewLine(chess.Crazyhouse.Start())
	push := func(text string) {
		m, err := game.Pos().ParseUCI(text)
		if err != nil {
			t.Fatal(err)
		}
		game.Push(m)
	}
	push("e2e4")
	b.position(game, "")
	b.send("go wtime 3000 btime 3000 winc 10 binc 10")
	ponder := b.move(game)
	b.position(game, ponder)
	b.send("go ponder %s", clocks)
	b.send("ponderhit")
	b.send("stop") // lichess-bot need not wait for the clock, nor need this test
	push(ponder)
	ponder = b.move(game)
	b.position(game, ponder)
	b.send("go ponder %s", clocks)
	b.send("stop") // another move came
	push(ponder)
	b.move(game)
	b.ready()
	b.send("quit")
	for b.lines.Scan() {
		if strings.HasPrefix(b.lines.Text(), "bestmove") {
			t.Errorf("after quit: %s", b.lines.Text())
		}
	}
	if err := <-b.done; err != nil {
		t.Error(err)
	}
}
