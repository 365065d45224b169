package game

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// pgnWidth is the longest line of movetext; the PGN standard asks for less
// than 80 characters with the newline.
const pgnWidth = 79

// sevenTags is the roster every PGN game must begin with, in its order.
var sevenTags = []string{"Event", "Site", "Date", "Round", "White", "Black", "Result"}

// WritePGN writes g as a PGN game. Tags are added to those that follow from g
// and replace those of the same name; the seven of the roster come first, then
// Variant, SetUp and FEN, then the others by name. Tags without a value in g
// or tags are left out, but for the roster.
//
// A comment behind a move is score and depth of the search, {+0.31/8}, seen
// from the mover: pawns, or +M3 for mate in 3 moves and -M3 for being mated.
// The comment behind the last move ends with the reason the game ended. Drops
// are written piece@square, pawns included.
func WritePGN(w io.Writer, g *Game, tags map[string]string) error {
	all := g.pgnTags()
	maps.Copy(all, tags)
	b := bufio.NewWriter(w)
	for _, name := range tagOrder(all) {
		fmt.Fprintf(b, "[%s %s]\n", name, quoteTag(all[name]))
	}
	fmt.Fprintln(b)
	column := 0
	for _, word := range g.movetext() {
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
	return tags
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
	case PlyLimit, AdjudicatedWin, AdjudicatedDraw:
		return "adjudication"
	case TimeForfeit:
		return "time forfeit"
	case IllegalMove:
		return "illegal move"
	case EngineFailure, Abandoned:
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

// movetext returns the words behind the tags: move numbers, moves, comments and
// the result.
func (g *Game) movetext() []string {
	var words []string
	pos := g.Start
	for i, ply := range g.Plies {
		if pos.SideToMove() == chess.White {
			words = append(words, strconv.Itoa(pos.FullmoveNumber())+".")
		} else if i == 0 {
			words = append(words, strconv.Itoa(pos.FullmoveNumber())+"...")
		}
		words = append(words, pos.SAN(ply.Move))
		comment := plyComment(ply)
		if i == len(g.Plies)-1 && g.Outcome != chess.Ongoing {
			if comment != "" {
				comment += ", "
			}
			comment += ReasonText(g.Reason)
		}
		if comment != "" {
			words = append(words, strings.Fields("{"+comment+"}")...)
		}
		pos.Make(ply.Move)
	}
	return append(words, g.Outcome.String())
}

// plyComment returns score and depth of a ply, or nothing if it has none.
func plyComment(p Ply) string {
	if !p.HasScore {
		return ""
	}
	text := scoreText(p.Score)
	if p.Depth > 0 {
		text += "/" + strconv.Itoa(int(p.Depth))
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
	return fmt.Sprintf("%+.2f", float64(s)/100)
}
