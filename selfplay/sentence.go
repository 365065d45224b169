package selfplay

import (
	"fmt"
	"log/slog"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/crazyhouse-rl/selfplay/internal/words"
)

// sentences are what a person reads for an event: the name of the event, then words
// with its attributes in braces. Events that are not here are printed as their name
// and all attributes.
var sentences = map[string]string{
	"starting":                         "{variant}, preset {preset}, net {net}, seed {seed}, in {dir}",
	"started":                          "run {run} with id {id}",
	"connecting":                       "connecting to {nats}",
	"net offered":                      "generation {generation} offered: net {net}, {games} games, held-out loss {held_out_loss}",
	"gate":                             "generation {candidate} {passed}: {elo} Elo in {games} games",
	"net published":                    "generation {generation} published: net {net}",
	"net withdrawn":                    "generation {generation} withdrawn, back to net {back_to}: {why}",
	"training resumed":                 "training goes on at step {step}, generation {generation}",
	"positions are labelled anew":      "generation {generation} scores the positions that are trained on",
	"training begins with a fresh net": "training begins with a fresh net, as there are {positions} positions by now",
	"training begins with a given net": "training begins with {init}",
	"setting changed":                  "setting changed: {setting}",
	"stopped":                          "stopped with {games} games, {positions} positions, {steps} steps, generation {generation}",
	"playing with an earlier net":      "playing with an earlier net: {net} of generation {generation}",
	"old net offered as new, refused":  "an old net was offered as new and refused: {net} of generation {candidate}, expected one above {newest}",
	"game is not what its id gives":    "game {game} of {actor} is not what its id gives, at ply {ply}: {what}",
	"games that the stream has lost are published again": "{games} games that the stream has lost are published again",
}

var placeholder = regexp.MustCompile(`\{[a-z_]+\}`)

// Sentence says an event of a run for a person.
func Sentence(event string, attrs []slog.Attr) string {
	text, known := sentences[event]
	if known {
		values := make(map[string]string, len(attrs))
		for _, a := range attrs {
			values["{"+a.Key+"}"] = attrText(a.Value)
			switch a.Key {
			case "passed":
				values["{passed}"] = passedText(a.Value.Any() == true)
			case "elo":
				values["{elo}"] = eloText(values["{elo}"])
			case "held_out_loss":
				if values["{held_out_loss}"] == "0" { // nobody measured it
					text = strings.Replace(text, ", held-out loss {held_out_loss}", "", 1)
				}
			}
		}
		text = placeholder.ReplaceAllStringFunc(text, func(key string) string {
			value, there := values[key]
			known = known && there
			return value
		})
		if known {
			return text
		}
	}
	var parts []string
	for _, a := range attrs {
		parts = append(parts, strings.ReplaceAll(a.Key, "_", " ")+" "+attrText(a.Value))
	}
	if len(parts) == 0 {
		return event
	}
	return event + ": " + strings.Join(parts, ", ")
}

// passedText says what a gate's match came to.
func passedText(passed bool) string {
	if passed {
		return "passed"
	}
	return "failed"
}

// eloText rounds what an Estimate prints, such as "88.58 +/- 172.90", to whole Elo. What has
// no finite value stays "n/a".
func eloText(estimate string) string {
	value, margin, _ := strings.Cut(estimate, " +/- ")
	elo, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsInf(elo, 0) || math.IsNaN(elo) {
		return estimate
	}
	if m, err := strconv.ParseFloat(margin, 64); err == nil {
		return eloWords(elo, m)
	}
	return eloWords(elo, 0) + " ± n/a"
}

var contentHash = regexp.MustCompile(`^[0-9a-f]{64}$`)

// attrText prints a value as precisely as a person reads it. What may come from other
// machines is quoted if it has characters that a terminal obeys.
func attrText(v slog.Value) string {
	switch v.Kind() {
	case slog.KindFloat64:
		return strconv.FormatFloat(v.Float64(), 'g', 3, 64)
	case slog.KindDuration:
		return v.Duration().Round(time.Millisecond).String()
	case slog.KindTime:
		return v.Time().Format(time.DateTime)
	}
	text := fmt.Sprint(v.Any())
	if contentHash.MatchString(text) {
		return short(text)
	}
	return words.Printable(text)
}
