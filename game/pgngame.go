package game

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
)

// Variant returns the variant the record says it is of, and whether by the
// rules of Chess960, from the tag Variant in the spelling of any program.
// Without that tag the game is crazyhouse if it begins with pieces in hand or
// has a drop, else chess. An error wraps [chess.ErrUnknownVariant].
func (rec *PGNRecord) Variant() (v *chess.Variant, chess960 bool, err error) {
	tag, given := rec.Tags["Variant"]
	name := strings.NewReplacer(" ", "", "-", "", "_", "").Replace(strings.ToLower(tag))
	if name == "chess960" || name == "fischerandom" || name == "fischerrandom" {
		return chess.Chess, true, nil
	}
	name, chess960 = strings.CutSuffix(name, "960")
	switch {
	case !given || name == "" || name == "?":
		if strings.Contains(rec.Tags["FEN"], "[") || rec.drops() {
			return chess.Crazyhouse, chess960, nil
		}
		return chess.Chess, chess960, nil
	case name == "standard" || name == "normal" || name == "fromposition":
		return chess.Chess, chess960, nil
	case name == "zh":
		return chess.Crazyhouse, chess960, nil
	}
	v, err = chess.ParseVariant(name)
	return v, chess960, err
}

// drops reports whether some move of the record is a drop.
func (rec *PGNRecord) drops() bool {
	for _, m := range rec.Moves {
		if strings.Contains(m.Text, "@") {
			return true
		}
	}
	return false
}

// Start returns the position the record begins from.
func (rec *PGNRecord) Start() (chess.Position, error) {
	v, chess960, err := rec.Variant()
	if err != nil {
		return chess.Position{}, err
	}
	fen := rec.Tags["FEN"]
	if fen == "" {
		fen = v.StartFEN
	}
	if chess960 {
		return chess.ParseFEN960(v, fen)
	}
	return chess.ParseFEN(v, fen)
}

// Game plays the record through by the rules. Comments of match runners and of
// lichess give what searches said, tags what [PGNOptions.Write] writes of a game's
// provenance; the reason of the end is what the rules say, else what the last
// comment or the tag Termination does, else NoReason. Train is never set. An
// error is a [*PGNError]: an unknown variant, a bad FEN, an illegal move, or a
// result that contradicts checkmate or stalemate on the board.
func (rec *PGNRecord) Game() (*Game, error) {
	g, err := rec.game()
	if err != nil {
		return nil, &PGNError{rec.Line, err}
	}
	return g, nil
}

func (rec *PGNRecord) game() (*Game, error) {
	start, err := rec.Start()
	if err != nil {
		return nil, err
	}
	g := &Game{Variant: start.Variant(), Start: start, Plies: make([]Ply, 0, len(rec.Moves)), Outcome: rec.Result}
	line := chess.NewLine(start)
	for i := range rec.Moves {
		pos := line.Pos()
		m, err := parsePGNMove(pos, rec.Moves[i].Text)
		if err != nil {
			return nil, fmt.Errorf("ply %d: %w in %s", i+1, err, pos.FEN())
		}
		ply := Ply{Move: m}
		ply.readComment(rec.Moves[i].Comment, pos.SideToMove())
		g.Plies = append(g.Plies, ply)
		line.Push(m)
	}
	if err := rec.end(g, line); err != nil {
		return nil, err
	}
	rec.provenance(g)
	return g, nil
}

// parsePGNMove reads a move in SAN, or in what some programs write instead:
// with a hyphen between squares, as UCI does, with small letters in castling or
// of pieces dropped, or with a remark on en passant.
func parsePGNMove(pos *chess.Position, text string) (chess.Move, error) {
	m, err := pos.ParseSAN(text)
	if err == nil {
		return m, nil
	}
	other := strings.TrimRight(text, "+#!?")
	other = strings.TrimSuffix(strings.TrimSuffix(other, "e.p."), "ep")
	if strings.HasPrefix(strings.ToUpper(other), "O-O") {
		other = strings.ToUpper(other)
	} else {
		other = strings.ReplaceAll(other, "-", "")
	}
	if len(other) == 4 && other[1] == '@' {
		other = strings.ToUpper(other[:1]) + other[1:]
	}
	if m, err := pos.ParseSAN(other); err == nil {
		return m, nil
	}
	if m, err := pos.ParseUCI(other); err == nil {
		return m, nil
	}
	return chess.NoMove, err
}

// end sets the reason of the game's end and, where nothing else did, its
// outcome.
func (rec *PGNRecord) end(g *Game, line *chess.Line) error {
	outcome, reason := line.Outcome()
	final := reason == chess.Checkmate || reason == chess.Stalemate
	switch {
	case final && g.Outcome == chess.Ongoing:
		g.Outcome = outcome
	case final && g.Outcome != outcome:
		return fmt.Errorf("%w: the result is %v, but the board shows %v by %s", ErrOutcome, g.Outcome, outcome, ReasonText(reason))
	}
	if g.Outcome != chess.Ongoing && g.Outcome == outcome {
		g.Reason = reason
		return nil
	}
	words := rec.Tags["Termination"]
	if n := len(rec.Moves); n > 0 {
		words = rec.Moves[n-1].Comment + ", " + words
	}
	if g.Reason = reasonOf(words, g.Outcome); adjudicated(g.Reason) {
		g.Adjudged = g.Outcome
	}
	return nil
}

// endings are the words in which programs give the reason of an end the rules
// do not give, the more specific words first.
var endings = []struct {
	words  string
	reason chess.Reason
}{
	{"ply limit", PlyLimit}, {"movelength", PlyLimit}, {"max moves", PlyLimit},
	{"resign", Resigned},
	{"illegal move", IllegalMove}, {"rules infraction", IllegalMove},
	{"time forfeit", TimeForfeit}, {"on time", TimeForfeit},
	{"no answer", NoAnswer}, {"stall", NoAnswer},
	{"engine failure", EngineFailure}, {"disconnect", EngineFailure}, {"abandoned", EngineFailure},
	{"adjudicat", AdjudicatedWin},
}

// reasonOf returns the reason that words give for the outcome, NoReason if none
// fits it.
func reasonOf(words string, outcome chess.Outcome) chess.Reason {
	words = strings.ToLower(words)
	for _, e := range endings {
		if !strings.Contains(words, e.words) {
			continue
		}
		switch {
		case outcome == chess.Ongoing:
			if e.reason == EngineFailure {
				return Abandoned
			}
		case outcome == chess.Draw && e.reason == AdjudicatedWin:
			return AdjudicatedDraw
		case isWin(outcome) != (e.reason == PlyLimit):
			return e.reason
		}
	}
	return chess.NoReason
}

// provenance sets what PGNOptions.Write writes into tags.
func (rec *PGNRecord) provenance(g *Game) {
	text := func(tag string) string {
		if s := rec.Tags[tag]; len(s) <= maxText {
			return s
		}
		return ""
	}
	g.ID, g.Limits, g.Build = text("GameId"), text("Limits"), text("Build")
	g.Nets = [2]string{text("WhiteNet"), text("BlackNet")}
	g.Seed, _ = strconv.ParseUint(rec.Tags["Seed"], 10, 64) // 0 if it is not ours
	if adjudged, ok := outcomes[rec.Tags["Adjudged"]]; ok {
		g.Adjudged = adjudged
	}
	both := text("TimeControl")
	g.TimeControls = [2]string{both, both}
	for c, tag := range [2]string{"WhiteTimeControl", "BlackTimeControl"} {
		if own := text(tag); own != "" {
			g.TimeControls[c] = own
		}
	}
	g.Began, g.Ended = rec.Times()
}

// Times returns when the game began and ended by the tags GameStartTime and GameEndTime,
// which match runners write; zero if unknown.
func (rec *PGNRecord) Times() (began, ended time.Time) {
	began, _ = time.Parse(pgnTime, rec.Tags["GameStartTime"])
	ended, _ = time.Parse(pgnTime, rec.Tags["GameEndTime"])
	return began, ended
}
