package player

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// splitQuoted cuts text at every sep that does not stand in quotes. The quotes
// stay.
func splitQuoted(text string, sep rune) ([]string, error) {
	var quote rune
	var parts []string
	begin := 0
	for i, r := range text {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '"' || r == '\'':
			quote = r
		case r == sep:
			parts = append(parts, text[begin:i])
			begin = i + 1
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("found a quote %c that does not end", quote)
	}
	return append(parts, text[begin:]), nil
}

// unquote removes space around text and the quotes in it: one kind may stand
// inside the other.
func unquote(text string) string {
	var quote rune
	return strings.Map(func(r rune) rune {
		switch {
		case quote == 0 && (r == '"' || r == '\''):
			quote = r
			return -1
		case quote != 0 && r == quote:
			quote = 0
			return -1
		}
		return r
	}, strings.TrimSpace(text))
}

// quote puts text into quotes if it needs them: if it is empty, has any of the
// special characters, or space at an end. Parse takes them off again.
func quote(text, special string) string {
	if text != "" && !strings.ContainsAny(text, special+`"'`) && strings.TrimSpace(text) == text {
		return text
	}
	if !strings.Contains(text, `"`) {
		return `"` + text + `"`
	}
	var b strings.Builder
	for i, part := range strings.Split(text, `"`) {
		if i > 0 {
			b.WriteString(`'"'`)
		}
		if part != "" {
			b.WriteString(`"` + part + `"`)
		}
	}
	return b.String()
}

// ParseCount reads a positive number, of thousands if a k follows it, of millions if
// an M does.
func ParseCount(text string) (uint64, error) {
	digits, scale := text, uint64(1)
	if rest, ok := strings.CutSuffix(text, "k"); ok {
		digits, scale = rest, 1e3
	} else if rest, ok := strings.CutSuffix(text, "M"); ok {
		digits, scale = rest, 1e6
	}
	const most = 1e15
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || n == 0 || n > most/scale {
		return 0, fmt.Errorf("found %q, expected a number such as 400 or 10k", text)
	}
	return n * scale, nil
}

// parseRange reads a whole number from lo to hi.
func parseRange(text string, lo, hi int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < lo || n > hi {
		return 0, fmt.Errorf("found %q, expected a whole number from %d to %d", text, lo, hi)
	}
	return n, nil
}

// maxSpan bounds every time a player may be given.
const maxSpan = 24 * time.Hour

// parseSpan reads a time with its unit, at least a millisecond.
func parseSpan(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < time.Millisecond || d > maxSpan {
		return 0, fmt.Errorf("found %q, expected a time with its unit such as 50ms", text)
	}
	return d, nil
}

// ParseTimeControl reads base time and increment, [MIN:]SEC[+SEC].
func ParseTimeControl(text string) (base, inc time.Duration, err error) {
	bad := func() (time.Duration, time.Duration, error) {
		return 0, 0, fmt.Errorf("found %q, expected [MIN:]SEC[+SEC] such as 10+0.1 or 1:30", text)
	}
	if strings.Contains(text, "/") {
		return 0, 0, fmt.Errorf("found %q, expected one time for the whole game: moves to a control are not supported", text)
	}
	main, extra, hasInc := strings.Cut(text, "+")
	minutes, secs, hasMinutes := strings.Cut(main, ":")
	if !hasMinutes {
		minutes, secs = "0", main
	}
	m, ok1 := parseSeconds(minutes)
	s, ok2 := parseSeconds(secs)
	i, ok3 := parseSeconds(extra)
	if !ok1 || !ok2 || hasInc && !ok3 {
		return bad()
	}
	base, inc = 60*m+s, i
	if base+inc < time.Millisecond || base > maxSpan || inc > maxSpan {
		return bad()
	}
	return base, inc, nil
}

// parseSeconds reads a decimal number of seconds, to the millisecond.
func parseSeconds(text string) (time.Duration, bool) {
	if text == "" || strings.Trim(text, "0123456789.") != "" {
		return 0, false
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f > maxSpan.Seconds() {
		return 0, false
	}
	return time.Duration(f*1000+0.5) * time.Millisecond, true
}
