package play

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/internal/durable"
	"github.com/crazyhouse-rl/selfplay/player"
)

// dialogue is a game of a person on the terminal.
type dialogue struct {
	out     io.Writer
	line    *chess.Line
	plies   []game.Ply // of the line
	person  chess.Color
	flipped bool // the board is drawn with Black below

	makers struct{ opponent, hints *player.Maker }
	opened struct{ opponent, hints player.Player } // nil until needed

	name, build string // of the person, of the program
	save        string // file for the game; empty: none
	began       time.Time
	// outcome and reason are of a game that is over.
	outcome chess.Outcome
	reason  chess.Reason
}

func newDialogue(start chess.Position, person chess.Color, opponent, hints *player.Maker, out io.Writer) *dialogue {
	t := &dialogue{out: out, line: chess.NewLine(start), person: person, began: time.Now()}
	t.makers.opponent, t.makers.hints = opponent, hints
	return t
}

// errQuit ends a game without a result.
var errQuit = errors.New("quit")

// run plays until the game is over or given up, and saves it.
func (t *dialogue) run(ctx context.Context, stdin io.Reader) (err error) {
	defer func() { err = errors.Join(err, t.close()) }()
	if t.opened.opponent, err = t.makers.opponent.Open(); err != nil {
		return err
	}
	if err := t.opened.opponent.NewGame(); err != nil {
		return err
	}
	fmt.Fprintf(t.out, "You play %s against %s; help lists the commands.\n\n", t.person, t.makers.opponent.Name)
	if err = t.next(ctx); err == nil {
		err = cli.Stream(ctx, func(emit func(string) bool) error {
			in := bufio.NewScanner(stdin)
			for in.Scan() && emit(in.Text()) {
			}
			return in.Err()
		}, func(line string) error { return t.obey(ctx, strings.TrimSpace(line)) })
	}
	if errors.Is(err, errQuit) {
		err = nil
	}
	switch {
	case t.save == "":
		return err
	case len(t.plies) == 0 && t.outcome == chess.Ongoing:
		fmt.Fprintf(t.out, "No move was played: nothing is written to %s.\n", t.save)
		return err
	}
	return errors.Join(err, t.write(t.save))
}

func (t *dialogue) close() error {
	var err error
	for _, p := range []player.Player{t.opened.opponent, t.opened.hints} {
		if p != nil {
			err = errors.Join(err, p.Close())
		}
	}
	return err
}

// next brings the game to the person's turn or to its end. A game that is over ends
// the dialogue.
func (t *dialogue) next(ctx context.Context) error {
	for {
		if t.outcome == chess.Ongoing {
			t.outcome, t.reason = t.line.Outcome()
		}
		if t.outcome != chess.Ongoing {
			t.draw()
			fmt.Fprintf(t.out, "%s (%s)\n", t.endText(), t.outcome)
			return errQuit
		}
		if t.line.Pos().SideToMove() == t.person {
			t.draw()
			fmt.Fprintf(t.out, "%s> ", t.prompt())
			return nil
		}
		res, err := t.opened.opponent.Search(ctx, t.line, t.makers.opponent.Limits)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, game.ErrResigned):
			t.outcome, t.reason = chess.Win(t.person), game.Resigned
			continue
		case err != nil:
			return err
		}
		p := t.line.Pos()
		fmt.Fprintf(t.out, "%s plays %s\n", t.makers.opponent.Name, game.MovesText(p, []chess.Move{res.Move}))
		t.push(game.Ply{Move: res.Move, Score: res.Score, HasScore: true, Depth: uint8(min(res.Depth, 255)), Nodes: res.Nodes, Elapsed: res.Elapsed})
	}
}

// endText says how the game ended.
func (t *dialogue) endText() string {
	switch {
	case t.reason == game.Resigned && t.outcome == chess.Win(t.person):
		return t.makers.opponent.Name + " resigns"
	case t.reason == game.Resigned:
		return "You resign"
	}
	return game.EndText(t.outcome, t.reason)
}

// prompt is the number of the move that is due.
func (t *dialogue) prompt() string {
	p := t.line.Pos()
	if p.SideToMove() == chess.White {
		return fmt.Sprintf("%d. ", p.FullmoveNumber())
	}
	return fmt.Sprintf("%d... ", p.FullmoveNumber())
}

func (t *dialogue) push(p game.Ply) {
	t.line.Push(p.Move)
	t.plies = append(t.plies, p)
}

func (t *dialogue) draw() { fmt.Fprintf(t.out, "\n%s\n", cli.Board(t.line.Pos(), t.flipped)) }

// obey does what the person has typed.
func (t *dialogue) obey(ctx context.Context, text string) error {
	word, rest, _ := strings.Cut(text, " ")
	switch word {
	case "":
	case "quit", "exit":
		return errQuit
	case "help":
		fmt.Fprintln(t.out, commandsHelp)
	case "flip":
		t.flipped = !t.flipped
		t.draw()
	case "board":
		t.draw()
		fmt.Fprintln(t.out, t.line.Pos().FEN())
	case "moves":
		t.moves()
	case "hint":
		if err := t.hint(ctx); err != nil {
			return err
		}
	case "save":
		t.saveTo(strings.TrimSpace(rest))
	case "takeback":
		if t.takeBack() {
			return t.next(ctx)
		}
	case "resign":
		t.outcome, t.reason = chess.Win(t.person.Other()), game.Resigned
		return t.next(ctx)
	default:
		m, err := parseMove(t.line.Pos(), text)
		if err != nil {
			fmt.Fprintf(t.out, "%v; help lists the commands\n", err)
			break
		}
		t.push(game.Ply{Move: m})
		return t.next(ctx)
	}
	fmt.Fprintf(t.out, "%s> ", t.prompt())
	return nil
}

// parseMove reads a move in UCI or SAN.
func parseMove(p *chess.Position, text string) (chess.Move, error) {
	if m, err := p.ParseUCI(text); err == nil {
		return m, nil
	}
	return p.ParseSAN(text)
}

func (t *dialogue) moves() {
	var list chess.MoveList
	p := t.line.Pos()
	p.Legal(&list)
	words := make([]string, list.N)
	for i, m := range list.Slice() {
		words[i] = p.SAN(m)
	}
	fmt.Fprintln(t.out, strings.Join(words, " "))
}

// hint says what a search at full strength would play.
func (t *dialogue) hint(ctx context.Context) error {
	if t.opened.hints == nil {
		p, err := t.makers.hints.Open()
		if err != nil {
			return err
		}
		t.opened.hints = p
	}
	if err := t.opened.hints.NewGame(); err != nil {
		return err
	}
	res, err := t.opened.hints.Search(ctx, t.line, t.makers.hints.Limits)
	switch {
	case errors.Is(err, game.ErrResigned):
		fmt.Fprintf(t.out, "%s would resign\n", t.makers.hints.Name)
		return nil
	case err != nil:
		return err
	}
	w := t.makers.hints.Spec.Search.WDL(res.Score)
	fmt.Fprintf(t.out, "%s  (score %s, %.1f %% expected)\n", game.MovesText(t.line.Pos(), res.PV), res.Score, 100*w.Expected())
	return nil
}

// takeBack takes moves back to the turn before the person's last move, and reports
// whether there was one.
func (t *dialogue) takeBack() bool {
	first := t.line.Start().SideToMove()
	due := 0 // plies before the person's first move
	if first != t.person {
		due = 1
	}
	if len(t.plies) <= due {
		fmt.Fprintln(t.out, "no move of yours to take back")
		return false
	}
	for range 2 {
		t.line.Pop()
		t.plies = t.plies[:len(t.plies)-1]
	}
	return true
}

// saveTo obeys save.
func (t *dialogue) saveTo(path string) {
	if path == "" {
		path = t.save
	}
	switch {
	case path == "":
		fmt.Fprintln(t.out, "found no file, expected save FILE")
	case len(t.plies) == 0:
		fmt.Fprintln(t.out, "no moves to save")
	default:
		if err := t.write(path); err != nil {
			fmt.Fprintln(t.out, err)
			return
		}
		fmt.Fprintf(t.out, "saved %s\n", path)
	}
}

// write writes the game as PGN.
func (t *dialogue) write(path string) error {
	m := t.makers.opponent
	g := &game.Game{
		Variant: t.line.Start().Variant(), Start: *t.line.Start(), Plies: t.plies, Outcome: t.outcome, Reason: t.reason,
		Seed: m.Spec.Seed, Limits: game.LimitsText(m.Limits), Build: t.build, Began: t.began, Ended: time.Now(),
	}
	g.Nets[t.person.Other()] = m.Net
	names := map[string]string{"White": t.name, "Black": m.Name}
	if t.person == chess.Black {
		names["White"], names["Black"] = names["Black"], names["White"]
	}
	if t.reason == game.Resigned {
		names["Termination"] = "normal" // a player did, not a rule of adjudication
	}
	if m.Spec.Elo != nil {
		names["Settings"] = m.Settings
	}
	var b bytes.Buffer
	if err := (game.PGNOptions{}).Write(&b, g, names); err != nil {
		return err
	}
	return durable.WriteFile(path, b.Bytes())
}
