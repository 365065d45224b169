package selfplay

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/crazyhouse-rl/selfplay/internal/words"
)

// GateProgress is how far the gate's match is.
type GateProgress struct {
	Generation int // that is judged
	Pairs, Of  int // played, and played at most
	LLR        float64
	Low, High  float64 // the bounds that LLR ends at
}

// panelLabel is the width of the names of a panel's rows.
const panelLabel = 7

// Panel is the status in a few lines for a terminal of that many columns: the way of
// the games from play to the net that they are played with next. A text that is too long
// for its row goes on in a second one.
func (s Status) Panel(columns int) []string {
	panel := []string{s.Run + "  " + s.Elapsed.Round(time.Second).String()}
	row := func(label, text string) {
		first, second := split(text, columns-1-panelLabel)
		panel = append(panel, fmt.Sprintf("%-*s%s", panelLabel, label, first))
		if second != "" {
			panel = append(panel, strings.Repeat(" ", panelLabel)+second)
		}
	}
	row("play", s.playText())
	row("store", fmt.Sprintf("%s games, %s positions, %s of them in the window", count(s.Games), count(s.Positions), count(s.Window))+s.unusual(roleReplay, "storing games", "waiting for games"))
	row("train", s.trainText())
	row("gate", s.gateText())
	row("net", s.netText(columns-panelLabel))
	if text := s.coresText(); text != "" {
		row("cores", text)
	}
	return panel
}

// split breaks a text of more than width characters after a semicolon, or between words.
func split(text string, width int) (first, second string) {
	runes := []rune(text)
	if len(runes) <= width || width <= 0 {
		return text, ""
	}
	head := string(runes[:width+1])
	if i := strings.LastIndex(head, "; "); i >= 0 {
		return text[:i+1], text[i+2:]
	}
	if i := strings.LastIndexByte(head, ' '); i >= 0 {
		return text[:i], text[i+1:]
	}
	return text, ""
}

func (s Status) playText() string {
	text := fmt.Sprintf("%s games by this process, %.0f positions/s", count(s.SessionGames), s.PositionsPerS)
	if s.MeanBatch > 0 {
		text += fmt.Sprintf(", %.0f evaluations/s by %.1f", s.EvaluationsPerS, s.MeanBatch)
	}
	if s.Spooled > 0 {
		text += fmt.Sprintf(", %d on their way", s.Spooled)
	}
	if s.Nodes > 0 {
		text += fmt.Sprintf("; %d nodes a move", s.Nodes)
	}
	if state := s.Roles[roleActor].State; !strings.HasPrefix(state, "playing") {
		text = state
	}
	return text
}

func (s Status) trainText() string {
	if s.Step == 0 {
		return s.Roles[roleTrainer].State
	}
	text := fmt.Sprintf("step %s, loss %.4f", count(s.Step), s.TrainLoss)
	if s.HeldOutLoss > 0 {
		text += fmt.Sprintf(", held out %.4f", s.HeldOutLoss)
	}
	if state := s.Roles[roleTrainer].State; strings.HasPrefix(state, "waiting") {
		return text + "; " + state
	}
	text += fmt.Sprintf(", %s samples/s", count(uint64(s.SamplesPerS)))
	if s.StepsToNet > 0 && s.SamplesPerS > 0 {
		left := float64(s.StepsToNet) * float64(s.Samples) / float64(s.Step) / s.SamplesPerS
		text += fmt.Sprintf(", net in %v", time.Duration(left*float64(time.Second)).Round(time.Second))
	}
	return text
}

func (s Status) gateText() string {
	state := s.Roles[roleGate].State
	if g := s.Gate; g.Of > 0 {
		text := fmt.Sprintf("generation %d: pair %d of %d, LLR %.2f of %.2f to %.2f", g.Generation, g.Pairs, g.Of, g.LLR, g.Low, g.High)
		if begins(state, triesPair) {
			text += "; " + state
		}
		return text
	}
	if s.LastGate != "" {
		state += ", " + s.LastGate
	}
	return state
}

// netText is what actors play with, and the curve that led there.
func (s Status) netText(columns int) string {
	text := short(s.Net)
	if s.Generation > 0 {
		text += fmt.Sprintf(", generation %d", s.Generation)
	}
	if s.FailedNet != "" {
		text += fmt.Sprintf(", as %s cannot be loaded", short(s.FailedNet))
	}
	n := len(s.Curve)
	if n == 0 {
		return text
	}
	sums := make([]float64, n)
	for i, p := range s.Curve {
		sums[i] = p.Sum
	}
	newest := s.Curve[n-1]
	sum := fmt.Sprintf("  %s over %s", newest.Reached(), words.Count(newest.Matches, "net", "nets"))
	return text + "  " + sparkline(sums, columns-utf8.RuneCountInString(text+sum)-3) + sum
}

// eloWords is a difference in whole Elo with its margin, which is left out if it is 0.
func eloWords(elo, margin float64) string {
	text := words.Signed(elo)
	if margin > 0 {
		text += fmt.Sprintf(" ± %.0f", margin)
	}
	return text
}

// unusual is the state of a role after a semicolon, empty if it is one of usual.
func (s Status) unusual(role int, usual ...string) string {
	state := s.Roles[role].State
	for _, u := range usual {
		if state == u {
			return ""
		}
	}
	return "; " + state
}

// coresText is the allocator's division of the cores and, in brackets, what is used of
// it, in per cent, then what more of a part was found to earn.
func (s Status) coresText() string {
	var parts []string
	head := "shares in % (used): "
	for _, p := range s.Division {
		part := fmt.Sprintf("%s %.0f (%.0f)", p.Name, 100*p.Share, 100*p.Used)
		if p.Earning.Known {
			part += fmt.Sprintf(" %+.2f ± %.2f", p.Earning.Median, p.Margin())
			head = "shares in % (used) and what more earns: "
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return ""
	}
	return head + strings.Join(parts, ", ")
}
