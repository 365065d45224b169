// Package words finds the known word nearest to a misspelt one.
package words

import "strings"

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
