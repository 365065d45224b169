package server

import (
	"strings"
	"testing"
)

// TestServeUpperCasePromotion: the letter of a promotion may be in upper case.
func TestServeUpperCasePromotion(t *testing.T) {
	s := newSession(t, Options{})
	const start = "position fen 8/P6k/8/8/8/8/8/K7[] w - - 0 1"
	if got := s.answer(start + " moves a7a8Q"); len(got) != 0 {
		t.Errorf("answers %q", got)
	}
	if fen := s.fen(); fen != "Q~7/7k/8/8/8/8/8/K7[] b - - 0 1" {
		t.Errorf("position %s", fen)
	}
	if got := s.best("go depth 1"); !strings.HasPrefix(got, "bestmove h7") {
		t.Errorf("after the promotion: %s", got)
	}
	if got := s.best(start, "go depth 1 searchmoves a7a8N"); !strings.HasPrefix(got, "bestmove a7a8n") {
		t.Errorf("searchmoves a7a8N: %s", got)
	}
}
