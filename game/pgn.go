package game

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// pgnWidth is the longest line of movetext; the PGN standard asks for less
// than 80 characters with the newline.
const pgnWidth = 79

// sevenTags is the roster every PGN game must begin with, in its order.
var sevenTags = []string{"Event", "Site", "Date", "Round", "White", "Black", "Result"}

// PGNOptions say what the comments after the moves hold beyond score, depth,
// time, nodes and clock.
type PGNOptions struct {
	// Eval writes the comments of lichess instead: {[%eval 0.31,8] [%clk 0:01:00.0]},
	// the score from White's side, mate in 3 as #3.
	Eval bool
	// PV adds the line of Game.PVs.
	PV bool
}

// Write writes g as a PGN game. Tags are added to those that follow from g
// and replace those of the same name; the seven of the roster come first, then
// Variant, SetUp and FEN, then the others by name. Tags without a value in g
// or tags are left out, but for the roster.
//
// A comment after a move is what its search said, seen from the mover:
// {+0.31/8 0.123s, n=5000, sd=12, tl=59.9s}, which is the score in pawns, or +M3
// for mate in 3 moves and -M3 for being mated, the depth, the time, the nodes,
// the selective depth and the time left. What is not known is left out. The
// comment after the last move ends with the reason the game ended. Drops are
// written piece@square, pawns included.
func (o PGNOptions) Write(w io.Writer, g *Game, tags map[string]string) error {
	all := g.pgnTags()
	maps.Copy(all, tags)
	b := bufio.NewWriter(w)
	for _, name := range tagOrder(all) {
		fmt.Fprintf(b, "[%s %s]\n", name, quoteTag(all[name]))
	}
	fmt.Fprintln(b)
	column := 0
	for _, word := range o.movetext(g) {
		switch {
		case column == 0:
		case column+1+len(word) > pgnWidth:
			b.WriteByte('\n')
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += len(word)
	}
	b.WriteString("\n\n")
	return b.Flush()
}

// pgnTags returns the tags that follow from the game.
func (g *Game) pgnTags() map[string]string {
	tags := map[string]string{
		"Event": "?", "Site": "?", "Date": "????.??.??", "Round": "?",
		"White": playerName(g.Nets[chess.White]), "Black": playerName(g.Nets[chess.Black]),
		"Result":      g.Outcome.String(),
		"Variant":     variantTag(g),
		"PlyCount":    strconv.Itoa(len(g.Plies)),
		"Termination": termination(g),
		"Seed":        strconv.FormatUint(g.Seed, 10),
	}
	if fen := g.Start.FEN(); fen != g.Variant.StartFEN {
		tags["SetUp"], tags["FEN"] = "1", fen
	}
	for name, value := range map[string]string{
		"GameId": g.ID, "Build": g.Build, "Limits": g.Limits,
		"WhiteNet": g.Nets[chess.White], "BlackNet": g.Nets[chess.Black],
	} {
		if value != "" {
			tags[name] = value
		}
	}
	if g.Adjudged != chess.Ongoing && !adjudicated(g.Reason) {
		tags["Adjudged"] = g.Adjudged.String() // but the game went on
	}
	g.timeTags(tags)
	return tags
}

// timeTags sets the tags about time: those of the clocks, and those of the
// wall clock.
func (g *Game) timeTags(tags map[string]string) {
	switch white, black := g.TimeControls[chess.White], g.TimeControls[chess.Black]; {
	case white != black:
		tags["WhiteTimeControl"], tags["BlackTimeControl"] = white, black
	case white != "":
		tags["TimeControl"] = white
	}
	if !g.Began.IsZero() {
		tags["Date"] = g.Began.Format("2006.01.02")
		tags["UTCDate"] = g.Began.UTC().Format("2006.01.02")
		tags["UTCTime"] = g.Began.UTC().Format("15:04:05")
		tags["GameStartTime"] = g.Began.Format(pgnTime)
	}
	if !g.Ended.IsZero() {
		tags["GameEndTime"] = g.Ended.Format(pgnTime)
	}
	if !g.Began.IsZero() && !g.Ended.IsZero() {
		tags["GameDuration"] = clockText(g.Ended.Sub(g.Began))
	}
}

// pgnTime is the form of a time with its zone in tags of match runners.
const pgnTime = "2006-01-02T15:04:05.000 -0700"

// clockText returns a time in the form of the tag GameDuration, h:mm:ss, whole
// seconds. [%clk] adds tenths.
func clockText(d time.Duration) string {
	s := int(max(0, d).Seconds())
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}

// playerName shortens the hash of a net to a name one can tell apart.
func playerName(net string) string {
	switch {
	case net == "":
		return "?"
	case len(net) == 2*hashSize:
		return net[:12]
	}
	return net
}

// variantTag returns the variant in the spelling of PGN programs.
func variantTag(g *Game) string {
	name := "Standard"
	if g.Variant != chess.Chess {
		name = strings.ToUpper(g.Variant.Name[:1]) + g.Variant.Name[1:]
	}
	if g.Start.Chess960() {
		if g.Variant == chess.Chess {
			return "Chess960"
		}
		return name + "960"
	}
	return name
}

// termination returns the value of the tag Termination.
func termination(g *Game) string {
	switch g.Reason {
	case PlyLimit, AdjudicatedWin, AdjudicatedDraw, Resigned:
		return "adjudication"
	case TimeForfeit:
		return "time forfeit"
	case IllegalMove:
		return "illegal move"
	case EngineFailure, NoAnswer, Abandoned:
		return "abandoned"
	}
	if byRules(g.Reason) {
		return "normal"
	}
	return "unterminated"
}

// tagOrder returns the names of tags in the order they are written.
func tagOrder(tags map[string]string) []string {
	order := append(slices.Clone(sevenTags), "Variant", "SetUp", "FEN")
	order = slices.DeleteFunc(order, func(name string) bool { _, ok := tags[name]; return !ok })
	for _, name := range slices.Sorted(maps.Keys(tags)) {
		if !slices.Contains(order, name) {
			order = append(order, name)
		}
	}
	return order
}

// quoteTag quotes a tag value. PGN knows two escapes; a line break, which no
// value may have, becomes a space.
func quoteTag(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", " ", "\r", " ").Replace(s) + `"`
}

// movetext returns the words after the tags: move numbers, moves, comments and
// the result.
func (o PGNOptions) movetext(g *Game) []string {
	var words []string
	pos := g.Start
	for i, ply := range g.Plies {
		mover := pos.SideToMove()
		if mover == chess.White {
			words = append(words, strconv.Itoa(pos.FullmoveNumber())+".")
		} else if i == 0 {
			words = append(words, strconv.Itoa(pos.FullmoveNumber())+"...")
		}
		words = append(words, pos.SAN(ply.Move))
		comment := o.comment(g, i, mover)
		if o.PV && i < len(g.PVs) && len(g.PVs[i]) > 0 {
			comment = o.join(comment, `pv="`+sanLine(pos, g.PVs[i])+`"`)
		}
		if i == len(g.Plies)-1 && g.Outcome != chess.Ongoing {
			comment = o.join(comment, ReasonText(g.Reason))
		}
		if comment != "" {
			words = append(words, strings.Fields("{"+comment+"}")...)
		}
		pos.Make(ply.Move)
	}
	return append(words, g.Outcome.String())
}

// join puts two parts of a comment together: with a comma, but for that of
// lichess, which has its own brackets.
func (o PGNOptions) join(a, b string) string {
	switch {
	case a == "" || b == "":
		return a + b
	case o.Eval:
		return a + " " + b
	}
	return a + ", " + b
}

// sanLine writes moves made one after the other from pos, up to the first that
// is not legal.
func sanLine(pos chess.Position, moves []chess.Move) string {
	var words []string
	for _, m := range moves {
		if !pos.IsLegal(m) {
			break
		}
		words = append(words, pos.SAN(m))
		pos.Make(m)
	}
	return strings.Join(words, " ")
}

// comment returns what the search of ply i said, or nothing if there was none.
func (o PGNOptions) comment(g *Game, i int, mover chess.Color) string {
	p := &g.Plies[i]
	switch {
	case !p.HasScore:
		return ""
	case o.Eval:
		return evalComment(p, mover)
	}
	return engineComment(p)
}

// engineComment is the comment of match runners.
func engineComment(p *Ply) string {
	text := scoreText(p.Score)
	if p.Depth > 0 {
		text += "/" + strconv.Itoa(int(p.Depth))
	}
	if p.Elapsed > 0 {
		text += fmt.Sprintf(" %.3fs", p.Elapsed.Seconds())
	}
	if p.Nodes > 0 {
		text += fmt.Sprintf(", n=%d", p.Nodes)
	}
	if p.SelDepth > 0 {
		text += fmt.Sprintf(", sd=%d", p.SelDepth)
	}
	if p.Clock > 0 {
		text += fmt.Sprintf(", tl=%.3fs", p.Clock.Seconds())
	}
	return text
}

// evalComment is the comment of lichess.
func evalComment(p *Ply, mover chess.Color) string {
	sign := 1
	if mover == chess.Black {
		sign = -1
	}
	text := fmt.Sprintf("[%%eval %.2f", float64(sign*int(p.Score))/search.CentipawnsPerPawn)
	if p.Score.IsMate() {
		text = fmt.Sprintf("[%%eval #%d", sign*p.Score.MateIn())
	}
	if p.Depth > 0 {
		text += "," + strconv.Itoa(int(p.Depth))
	}
	text += "]"
	if p.Clock > 0 {
		text += fmt.Sprintf(" [%%clk %s.%d]", clockText(p.Clock), p.Clock/(time.Second/10)%10)
	}
	return text
}

// scoreText returns a score in pawns with its sign, or as a mate in moves.
func scoreText(s search.Score) string {
	switch {
	case s.IsMate() && s > 0:
		return fmt.Sprintf("+M%d", s.MateIn())
	case s.IsMate():
		return fmt.Sprintf("-M%d", -s.MateIn())
	}
	return fmt.Sprintf("%+.2f", float64(s)/search.CentipawnsPerPawn)
}
