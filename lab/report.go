package lab

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/crazyhouse-rl/selfplay/internal/durable"
)

// Write writes the reports into a directory, figures first.
func (r *Results) Write(dir string) error {
	if err := r.saveFigures(dir); err != nil {
		return err
	}
	var page, sheet, table bytes.Buffer
	if err := r.writeHTML(&page, dir); err != nil {
		return err
	}
	if err := r.WriteCSV(&sheet); err != nil {
		return err
	}
	if err := r.WriteParquet(&table); err != nil {
		return err
	}
	results, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	times, err := json.MarshalIndent(r.Times, "", "  ")
	if err != nil {
		return err
	}
	return errors.Join(
		durable.WriteFile(filepath.Join(dir, "report.md"), []byte(r.markdown())),
		durable.WriteFile(filepath.Join(dir, "report.html"), page.Bytes()),
		durable.WriteFile(filepath.Join(dir, "results.csv"), sheet.Bytes()),
		durable.WriteFile(filepath.Join(dir, "results.parquet"), table.Bytes()),
		durable.WriteFile(filepath.Join(dir, TimesFile), append(times, '\n')),
		durable.WriteFile(filepath.Join(dir, ResultsFile), append(results, '\n')))
}

// section is a heading of a report with its text and figures, or a table.
type section struct {
	Title string
	Text  []string
	Head  []string
	Body  [][]string
}

// Conclusions are the sentences that a comparison ends in.
func (r *Results) Conclusions() []string {
	var list []string
	for i := range r.Stages {
		list = append(list, r.Stages[i].conclusions(r.oneSeed())...)
	}
	return list
}

// maxSaid is the greatest number of differences of a stage that get a sentence each. If more
// were found, only those of the strongest row do.
const maxSaid = 6

// conclusions are the sentences of a stage; note goes behind what one seed says.
func (s *StageResult) conclusions(note string) []string {
	all := s.Ratings.Differences
	if len(all) == 0 {
		return nil
	}
	best, found := 0, 0
	for i := range s.Ratings.Rows {
		if s.Ratings.Rows[i].Elo > s.Ratings.Rows[best].Elo {
			best = i
		}
	}
	for k := range all {
		if all[k].Found {
			found++
		}
	}
	at := s.Stage.words()
	var list, near []string
	name := ""
	for k, d := range all {
		better, worse, elo, low, high := s.Names[k][0], s.Names[k][1], d.Elo, d.Low, d.High
		if d.B == best || d.A != best && elo < 0 {
			better, worse, elo, low, high = worse, better, -elo, -high, -low
		}
		ofBest := d.A == best || d.B == best
		if ofBest {
			name = better
		}
		switch {
		case d.Found && (ofBest || found <= maxSaid):
			list = append(list, fmt.Sprintf("%s, %s is stronger than %s by %.0f Elo [%.0f, %.0f], p = %.2g after correction%s.", at, better, worse, elo, low, high, d.Adjusted, note))
		case ofBest && !d.Found:
			near = append(near, worse)
		}
	}
	if found == 0 {
		list = append(list, fmt.Sprintf("%s no difference between rows is beyond chance%s.", at, note))
	} else if len(near) > 0 {
		list = append(list, fmt.Sprintf("%s, %s has the highest rating, and its difference from %s is not beyond chance%s.", at, name, strings.Join(near, ", "), note))
	}
	if found > maxSaid {
		list = append(list, fmt.Sprintf("%s, %d of %d differences between rows are beyond chance; the table of differences has the others.", at, found, len(all)))
	}
	return append(list, fmt.Sprintf("%s a difference of %.0f Elo between two rows would have been seen with probability %g.", at, s.Ratings.Detected, power))
}

func (r *Results) oneSeed() string {
	if len(r.Rows[0].Losses) == 1 {
		return " (one seed: of these nets, not of the representations)"
	}
	return ""
}

// sections are the report, apart from its figures.
func (r *Results) sections() []section {
	list := []section{{Title: "What it shows", Text: r.Conclusions()}}
	if len(r.Warnings) > 0 {
		list = append(list, section{Title: "Warnings", Text: r.Warnings})
	}
	for k, columns := range r.columns() {
		table := section{Title: "What it is and costs"}
		if k == 0 {
			table = section{Title: "What it came to", Text: strings.Split(Legend, ";\n")}
		}
		for _, c := range columns {
			table.Head = append(table.Head, c.title)
		}
		for i := range r.Rows {
			var line []string
			for _, c := range columns {
				line = append(line, c.of(&r.Rows[i], &r.Times[i]))
			}
			table.Body = append(table.Body, line)
		}
		list = append(list, table)
	}
	for i := range r.Stages {
		list = append(list, r.Stages[i].sections(r)...)
	}
	return append(list, r.methods(), r.equal(), r.again())
}

// sections are the ratings of a stage's players and the differences of its rows.
func (s *StageResult) sections(r *Results) []section {
	scale := "The mean of the rows is 0."
	if s.Ratings.Absolute {
		scale = "Anchors with given ratings set the scale."
	}
	text := []string{fmt.Sprintf("%s, %d games. %s", capital(s.Limits), s.Games, scale)}
	if s.Ratings.Freedom > 0 {
		text = append(text, fmt.Sprintf("Nets of one row differ by a standard deviation of %.0f Elo beyond what games explain (%d degrees of freedom).", s.Ratings.SeedSD, s.Ratings.Freedom))
	}
	list := section{Title: "Games: " + s.Stage.words(), Text: text, Head: []string{"player", "Elo", "95 % interval", "± of games alone", "by seed"}}
	add := func(name string, e *Rating) {
		var seeds []string
		for _, x := range e.Seeds {
			seeds = append(seeds, fmt.Sprintf("%+.0f", x))
		}
		list.Body = append(list.Body, []string{name, fmt.Sprintf("%+.0f", e.Elo), fmt.Sprintf("%+.0f to %+.0f", e.Low, e.High), fmt.Sprintf("%.0f", 1.96*e.Games), strings.Join(seeds, " ")})
	}
	for i := range r.Rows {
		e := r.Rows[i].Elo[s.Stage]
		add(r.Rows[i].Name, &e)
	}
	for i, name := range s.Anchors {
		add(name+" (anchor)", &s.Ratings.Anchors[i])
	}
	pairs := section{Title: "Differences: " + s.Stage.words(), Head: []string{"rows", "Elo", "95 % interval", "p", "p, Holm", "found", "seen with probability 0.8"}}
	for i, d := range s.Ratings.Differences {
		found := "no"
		if d.Found {
			found = "yes"
		}
		pairs.Body = append(pairs.Body, []string{
			s.Names[i][0] + " − " + s.Names[i][1], fmt.Sprintf("%+.0f", d.Elo), fmt.Sprintf("%+.0f to %+.0f", d.Low, d.High),
			fmt.Sprintf("%.3g", d.P), fmt.Sprintf("%.3g", d.Adjusted), found, fmt.Sprintf("%.0f Elo", d.Detected),
		})
	}
	if len(pairs.Body) == 0 {
		return []section{list}
	}
	return []section{list, pairs}
}

// words says how the games of a stage are played.
func (s Stage) words() string {
	if s == Ladder {
		return "Against the ladder"
	}
	return "At fixed " + string(s)
}

func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// methods says how figures were come by.
func (r *Results) methods() section {
	return section{Title: "Method", Text: []string{
		strings.ReplaceAll(strings.TrimSpace(arrangement), "\n", " "),
		"Each net is rated by the games with those of its seed and the anchors, by the model of Bradley and Terry with White's advantage, which is one for all seeds; one draw is added between any two players who met. A row's rating is the mean over its seeds.",
		fmt.Sprintf("The error of games is the spread of ratings when openings are drawn anew with replacement, %d times; all games from one opening, those of all seeds, are drawn together; it is at least the one by the curvature of the likelihood. The error of seeds is the spread between the nets of a row beyond that, taken as equal for all rows; in ratings on the scale of anchors, and in those of anchors on that of the rows, it has also what a seed does to all rows, which cancels in differences. Where given ratings have a standard deviation, its part is added once for all seeds. Intervals have all of these, with Student's t.", resamples),
		"P values of all pairs of rows of a stage are corrected by Holm's method: the probability of any false difference in a stage is at most 5 %. Intervals are not corrected.",
		"At fixed time every player has as many nodes a move as it searches in that time by CPU time when nothing disturbs it, as measured once beside material; the clock plays no part, so a busy machine decides nothing. Engines of others are given the time itself.",
		"Puzzles: the error is the spread over puzzles of the share of nets that solve one, and the spread between nets of a row beyond that, as with ratings.",
		"Openings: " + r.Openings + ".",
		r.builds(),
	}}
}

// builds says which versions of the program made what.
func (r *Results) builds() string {
	var games [][]string
	for i := range r.Stages {
		games = append(games, r.Stages[i].builds()...)
	}
	return fmt.Sprintf("Versions of the program: %s wrote this report; the nets: %s; the games: %s; results.json has those of each.",
		cmp.Or(r.Build, unknownBuild), strings.Join(buildsOf(r.netBuilds()), " and "), strings.Join(buildsOf(games), " and "))
}

// mixedBuilds says what more than one version of the program made: nets, and games of stages.
func (r *Results) mixedBuilds() (mixed []string) {
	add := func(what string, cells [][]string) {
		if list := buildsOf(cells); len(list) > 1 {
			mixed = append(mixed, what+" ("+strings.Join(list, " and ")+")")
		}
	}
	add("nets", r.netBuilds())
	for i := range r.Stages {
		add("games "+strings.ToLower(r.Stages[i].Stage.words()), r.Stages[i].builds())
	}
	return mixed
}

// unknownBuild stands for the version that a cell does not tell.
const unknownBuild = "one not known"

// buildsOf are the different versions that made cells, by those of each.
func buildsOf(cells [][]string) []string {
	var list []string
	for _, builds := range cells {
		if len(builds) == 0 {
			builds = []string{unknownBuild}
		}
		list = append(list, builds...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// netBuilds are the versions that trained each net.
func (r *Results) netBuilds() (cells [][]string) {
	for i := range r.Rows {
		cells = append(cells, r.Rows[i].Builds...)
	}
	return cells
}

// builds are the versions that played each two players.
func (s *StageResult) builds() (cells [][]string) {
	for i := range s.Meetings {
		cells = append(cells, s.Meetings[i].Builds)
	}
	return cells
}

// equal says what is equal among the rows.
func (r *Results) equal() section {
	s := section{Title: "What is equal among the rows", Head: []string{"what", "equal", "detail"}}
	for _, f := range r.Equal {
		mark := "yes"
		if !f.Equal {
			mark = "no"
		}
		s.Body = append(s.Body, []string{f.What, mark, f.Detail})
	}
	return s
}

// again lists the commands that make the cells again.
func (r *Results) again() section {
	s := section{Title: "Make it again", Text: []string{"Each net and each pair of players, by the command that makes it again."}, Head: []string{"cell", "command"}}
	for i := range r.Rows {
		for k, key := range r.Rows[i].Cells {
			s.Body = append(s.Body, []string{fmt.Sprintf("%s, seed %d: %s", r.Rows[i].Name, k+1, key), r.Rows[i].Commands[k]})
		}
		for k, command := range r.Rows[i].PuzzleCommands {
			s.Body = append(s.Body, []string{fmt.Sprintf("puzzles, %s, seed %d", r.Rows[i].Name, k+1), command})
		}
	}
	for i := range r.Stages {
		for _, m := range r.Stages[i].Meetings {
			s.Body = append(s.Body, []string{fmt.Sprintf("%s − %s, %s, seed %d: %s", m.A, m.B, r.Stages[i].Stage, m.Seed, m.Cell), m.Command})
		}
	}
	return s
}

// markdown is the report as Markdown, with links to the figures beside it.
func (r *Results) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", r.title())
	for i, s := range r.sections() {
		fmt.Fprintf(&b, "\n## %s\n\n", s.Title)
		for _, t := range s.Text {
			fmt.Fprintf(&b, "- %s\n", t)
		}
		if s.Head != nil {
			if len(s.Text) > 0 {
				b.WriteByte('\n')
			}
			fmt.Fprintf(&b, "| %s |\n|%s\n", strings.Join(s.Head, " | "), strings.Repeat("---|", len(s.Head)))
			for _, line := range s.Body {
				line = slices.Clone(line)
				for k := range line {
					line[k] = strings.ReplaceAll(line[k], "|", `\|`)
				}
				if s.Title == "Make it again" {
					line[1] = "`" + line[1] + "`"
				}
				fmt.Fprintf(&b, "| %s |\n", strings.Join(line, " | "))
			}
		}
		if i == 0 {
			for _, d := range r.drawings() {
				fmt.Fprintf(&b, "\n![%s](%s)\n\n%s\n", d.figure.Title, d.file, d.caption)
			}
		}
	}
	return b.String()
}

func (r *Results) title() string {
	return fmt.Sprintf("A comparison of %d representations, %d nets of each", len(r.Rows), len(r.Rows[0].Losses))
}

//go:embed report.html.tmpl
var pageText string

var pageTemplate = template.Must(template.New("report").Parse(pageText))

// writeHTML writes the report as one page, with the figures of a directory in it.
func (r *Results) writeHTML(w io.Writer, dir string) error {
	type picture struct {
		Caption string
		SVG     template.HTML
	}
	page := struct {
		Title    string
		Sections []section
		Figures  []picture
	}{Title: r.title(), Sections: r.sections()}
	for _, d := range r.drawings() {
		text, err := os.ReadFile(filepath.Join(dir, d.file))
		if err != nil {
			return err
		}
		begin := bytes.Index(text, []byte("<svg"))
		if begin < 0 {
			return fmt.Errorf("%s: found no <svg", d.file)
		}
		page.Figures = append(page.Figures, picture{d.caption, template.HTML(text[begin:])}) //nolint:gosec // drawn by this program, which escapes names
	}
	return pageTemplate.Execute(w, page)
}
