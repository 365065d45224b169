package cli

import (
	"log/slog"
	"regexp"
	"strings"
	"testing"
)

func TestSentencesAreLines(t *testing.T) {
	var out strings.Builder
	say := func(message string, attrs []slog.Attr) string {
		for _, a := range attrs {
			message += " " + a.Key + "=" + a.Value.String()
		}
		return message
	}
	log := slog.New(NewSentences(NewLive(&out), say))
	log.Debug("not shown")
	log.Info("begun", "a", 1)
	log.With("role", "actor").Warn("slow", "b", 2)
	want := regexp.MustCompile(`^\d\d:\d\d:\d\d  begun a=1\n\d\d:\d\d:\d\d  ! slow role=actor b=2\n$`)
	if !want.MatchString(out.String()) {
		t.Errorf("found %q, expected two lines that match %v", out.String(), want)
	}
	out.Reset()
	slog.New(NewSentences(&Live{out: &out, Width: 32}, say)).Info("a sentence that is wider than the terminal")
	if got := regexp.MustCompile(`^\d\d:\d\d:\d\d`).ReplaceAllString(out.String(), "01:02:03"); got != "01:02:03  a sentence that is\n          wider than the\n          terminal\n" {
		t.Errorf("found %q, expected three lines of at most 32 columns", got)
	}
}
