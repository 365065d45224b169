// Package words finds the known word nearest to a misspelt one, says how settings
// differ, counts, signs numbers, and quotes words for a shell and text for a terminal.
package words

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Nearest returns the word with the smallest edit distance to name, letter case
// apart: the first of several, or "" if there are no words.
func Nearest(name string, words []string) string {
	best, least := "", -1
	for _, w := range words {
		if d := distance(strings.ToLower(name), strings.ToLower(w)); least < 0 || d < least {
			best, least = w, d
		}
	}
	return best
}

// distance is the Levenshtein distance of two strings, in bytes: how many must
// be inserted, removed or replaced to make one of the other.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}

// Difference says which of the settings found are not as wanted, and where they were
// found, such as "in the log"; "" if none.
func Difference(wanted, found map[string]string, where string) string {
	names := slices.Collect(maps.Keys(wanted))
	for name := range found {
		if _, ok := wanted[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var parts []string
	for _, name := range names {
		if wanted[name] != found[name] {
			parts = append(parts, fmt.Sprintf("%s is %.80q %s, %.80q here", name, found[name], where, wanted[name]))
		}
	}
	return strings.Join(parts, "; ")
}

// Signed prints a number in whole units with its sign; what is rounded to zero has none.
func Signed(v float64) string {
	if math.RoundToEven(v) == 0 { // as Sprintf rounds
		return "0"
	}
	return fmt.Sprintf("%+.0f", v)
}

// Count says how many of something there are: "1 match", "2 matches".
func Count[N int | uint64](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Printable returns text, in Go's quotes if it has characters that do not print: a
// terminal may obey them. It is for text that others have written.
func Printable(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(text)
	}
	return text
}

// Shell joins words so that a shell takes them apart again.
func Shell(words ...string) string {
	words = slices.Clone(words)
	for i, w := range words {
		if w == "" || strings.ContainsFunc(w, func(r rune) bool {
			return !strings.ContainsRune("_./-:=,+@%", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r)
		}) {
			words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}
