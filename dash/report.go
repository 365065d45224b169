package dash

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io/fs"
	"regexp"
	"strings"
	"time"
)

const (
	// MostReportGames is how many games a report has at most.
	MostReportGames = keptGames
	// MostReportBytes is how large a report is at most.
	MostReportBytes = 32 << 20
)

// Report is the page of a run in one file.
type Report struct {
	HTML  []byte
	Games int // in it
	Left  int // games asked for that it has no room for
}

// parts of the built page that a report has in itself.
var (
	iconTag    = regexp.MustCompile(`<link rel="icon"[^>]*>`)
	scriptTag  = regexp.MustCompile(`<script type="module"[^>]* src="\./([^"]+)"></script>`)
	styleTag   = regexp.MustCompile(`<link rel="stylesheet"[^>]* href="\./([^"]+)">`)
	licenceTag = regexp.MustCompile(`<a href="\./licenses\.txt">its licence</a>`)
)

// Report returns the page as one file that needs neither server nor network, with the run
// as it is now and its newest games, at most that many. The file is of at most
// MostReportBytes bytes; games for which there is no room are left out.
func (w *Watch) Report(games int) (*Report, error) {
	if w.compared != nil {
		return nil, fmt.Errorf("%w: it is a comparison, whose report.html selfplay compare writes", ErrNoRun)
	}
	if w.onServers() {
		return nil, fmt.Errorf("%w: a report is of a directory", ErrNoRun)
	}
	data, out, err := w.reportData(games)
	if err != nil {
		return nil, err
	}
	out.HTML, err = reportPage(w.run.Name, data)
	if err == nil && len(out.HTML) > MostReportBytes {
		err = fmt.Errorf("report: found %d bytes, expected at most %d", len(out.HTML), MostReportBytes)
	}
	return out, err
}

// roomForGames is what the games of a report may take, in bytes. All else is bounded, and
// takes less than the rest.
const roomForGames = MostReportBytes / 2

// reportData is what the page would ask the server for, by path.
func (w *Watch) reportData(games int) (map[string]json.RawMessage, *Report, error) {
	data := map[string]json.RawMessage{}
	out := &Report{}
	var err error
	w.look(func(now time.Time) {
		state := w.state(now)
		for i := range state.Links { // a rate takes two looks
			state.Links[i].Flows = false
			if state.Links[i].Unit != "" {
				state.Links[i].Value = nil
			}
		}
		var list Nets
		if list, err = w.netList(); len(list.List) > 0 {
			err = nil // a manifest that cannot be read takes nothing from the others
		}
		learning := w.learning()
		if learning.Ladder.Command != "" {
			learning.Ladder.Command = ladderCommand(w.run.Name) // where its directory is concerns nobody else
		}
		data["state"], data["learning"], data["nets"] = encode(state), encode(learning), encode(list)
		data["actors"] = encode(w.actors(now))

		all := w.games()
		all.Games = all.Games[:min(games, len(all.Games))]
		generation, room := w.generations(), roomForGames
		for i, line := range all.Games {
			g, failed := replayed(w.record(line.ID), generation, w.settings.Actor.Search)
			if failed != nil {
				err = errors.Join(err, fmt.Errorf("game %s: %w", line.ID, failed))
				continue
			}
			text := encode(g)
			if room -= len(text); room < 0 {
				out.Left = len(all.Games) - i
				all.Games = all.Games[:i]
				break
			}
			data["games/"+line.ID] = text
			out.Games++
		}
		data["games"] = encode(all)
	})
	return data, out, err
}

// reportPage puts the data and the page's own files into the page. Its policy allows
// these files, by their hashes, and nothing else.
func reportPage(name string, data map[string]json.RawMessage) ([]byte, error) {
	page, err := fs.ReadFile(built, "web/dist/index.html")
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	replace := func(tag *regexp.Regexp, with func(file string) (string, error)) {
		found := tag.FindAllSubmatchIndex(page, -1)
		if len(found) != 1 && err == nil {
			err = fmt.Errorf("report: found %d times %s in the page, expected once", len(found), tag)
		}
		if err != nil {
			return
		}
		at, file := found[0], ""
		if len(at) > 2 {
			file = string(page[at[2]:at[3]])
		}
		var text string
		if text, err = with(file); err == nil {
			page = bytes.Join([][]byte{page[:at[0]], []byte(text), page[at[1]:]}, nil)
		}
	}
	source := map[string]string{}
	inline := func(element, opening string) func(string) (string, error) {
		return func(file string) (string, error) {
			text, err := fs.ReadFile(built, "web/dist/"+file)
			if err != nil {
				return "", err
			}
			if lower := strings.ToLower(string(text)); strings.Contains(lower, "</"+element) || strings.Contains(lower, "<!--") {
				return "", fmt.Errorf("report: %s would end its element early", file)
			}
			sum := sha256.Sum256(text)
			source[element] = "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
			return opening + string(text) + "</" + element + ">", nil
		}
	}
	replace(styleTag, inline("style", "<style>"))
	replace(scriptTag, inline("script", `<script type="module">`))
	replace(licenceTag, func(string) (string, error) {
		text, err := fs.ReadFile(built, "web/dist/licenses.txt")
		return "<details><summary>its licence</summary><pre>" + html.EscapeString(string(text)) + "</pre></details>", err
	})
	replace(iconTag, func(string) (string, error) {
		return `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src ` + source["script"] + `; style-src ` + source["style"] +
			`; base-uri 'none'; form-action 'none'">`, nil
	})
	replace(regexp.MustCompile(`<title>[^<]*</title>`), func(string) (string, error) { return "<title>" + html.EscapeString(name) + "</title>", nil })
	replace(regexp.MustCompile(`</body>`), func(string) (string, error) {
		// JSON of encoding/json has no <, > or &.
		return `<script type="application/json" id="run">` + string(encode(data)) + "</script>\n</body>", nil
	})
	return page, err
}
