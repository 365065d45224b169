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
	log := slog.New(NewSentences(&out, say))
	log.Debug("not shown")
	log.Info("begun", "a", 1)
	log.With("role", "actor").Warn("slow", "b", 2)
	want := regexp.MustCompile(`^\d\d:\d\d:\d\d  begun a=1\n\d\d:\d\d:\d\d  ! slow role=actor b=2\n$`)
	if !want.MatchString(out.String()) {
		t.Errorf("found %q, expected two lines that match %v", out.String(), want)
	}
}
