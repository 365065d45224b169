package main

import (
	"fmt"
	"strings"
)

// String says what came out of a case.
func (r *result) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "  %d games in %.1f s: %.0f games, %.0f positions, %.2f MB a second in %.0f messages of %.1f games; %d connections made in %.1f s, %.0f syncs a second before\n",
		r.Games, r.Seconds, r.GamesRate, r.PositionsRate, r.BytesRate/1e6, r.MessagesRate, r.GamesPerMessage, r.Connections, r.ConnectSeconds, r.SyncsRate)
	line := func(name string, q quantiles) {
		if q.Count > 0 {
			fmt.Fprintf(&s, "  %s: p50 %s, p90 %s, p99 %s, p99.9 %s, max %s ms of %d\n", name,
				millis(q.P50), millis(q.P90), millis(q.P99), millis(q.P999), millis(q.Max), q.Count)
		}
	}
	line("publish", r.Publish)
	line("finished to on disk", r.OnDisk)
	line("question", r.Ask)
	for _, u := range []struct {
		name string
		usage
	}{{"server", r.Server}, {"replay", r.Replay}, {"actors", r.Senders}} {
		if u.CPUSeconds > 0 {
			fmt.Fprintf(&s, "  %s: %.0f %% of a core, %.0f µs a game, %.0f MiB\n", u.name, 100*u.CPUShare, u.MicrosPerGame, u.PeakMiB)
		}
	}
	fmt.Fprintf(&s, "  refused messages %d, failed questions %d, games sent again %d, pauses %d\n", r.Refusals, r.Failures, r.Republished, r.Pauses)
	if r.LastError != "" {
		fmt.Fprintf(&s, "  last error: %s\n", r.LastError)
	}
	if !r.Raw {
		fmt.Fprintf(&s, "  finished %d, stored %d, lost %d, twice %d, of nobody %d, not confirmed %d\n", r.Finished, r.Stored, r.Lost, r.Twice, r.Alien, r.Waiting)
	}
	return s.String()
}

// table puts cases with a replay role beside the same ones without, in Markdown.
// Times are medians / 99th percentiles / maxima in ms, CPU times µs a game.
func table(results []*result) string {
	type key struct{ actors, bundle int }
	raw := make(map[key]*result)
	for _, r := range results {
		if r.Raw {
			raw[key{r.Actors, r.Bundle}] = r
		}
	}
	var s strings.Builder
	fmt.Fprintln(&s, "| actors | bundle | raw: games/s | messages/s | publish ms | games/s | positions/s | MB/s | messages/s | publish ms | on disk ms | server, replay µs/game | server, replay MiB | lost, twice |")
	fmt.Fprintln(&s, "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|")
	row := func(r, alone *result) {
		cells := []string{fmt.Sprint(r.Actors), fmt.Sprint(r.Bundle), "–", "–", "–", "–", "–", "–", "–", "–", "–", "–", "–", "–"}
		if alone != nil {
			cells[2], cells[3], cells[4] = whole(alone.GamesRate), whole(alone.MessagesRate), alone.Publish.String()
		}
		if !r.Raw {
			copy(cells[5:], []string{
				whole(r.GamesRate), whole(r.PositionsRate), fmt.Sprintf("%.2f", r.BytesRate/1e6), whole(r.MessagesRate),
				r.Publish.String(), r.OnDisk.String(),
				fmt.Sprintf("%.0f, %.0f", r.Server.MicrosPerGame, r.Replay.MicrosPerGame),
				fmt.Sprintf("%.0f, %.0f", r.Server.PeakMiB, r.Replay.PeakMiB),
				fmt.Sprintf("%d, %d", r.Lost+r.Waiting, r.Twice),
			})
		}
		fmt.Fprintf(&s, "| %s |\n", strings.Join(cells, " | "))
	}
	shown := make(map[key]bool)
	for _, r := range results {
		if k := (key{r.Actors, r.Bundle}); !r.Raw {
			row(r, raw[k])
			shown[k] = true
		}
	}
	for _, r := range results {
		if r.Raw && !shown[key{r.Actors, r.Bundle}] {
			row(r, r)
		}
	}
	return s.String()
}

// whole prints a number with a comma before each three digits.
func whole(x float64) string {
	text := fmt.Sprintf("%.0f", x)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
