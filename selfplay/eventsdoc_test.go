package selfplay

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestEventsDocumented: docs/formats.md has a row for every event that is written to
// events.jsonl, with all of its keys.
func TestEventsDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	message := ""
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			continue
		}
		if first := strings.Trim(cells[1], " `"); first != "" { // else it goes on with the row before
			message = first
		}
		rows[message] += cells[2]
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if to, ok := call.Fun.(*ast.SelectorExpr); !ok || to.Sel.Name != "event" {
				return true
			}
			message, ok := literal(call.Args[0])
			if !ok {
				t.Errorf("%s: an event whose message is no literal", path)
				return true
			}
			found++
			row, ok := rows[message]
			if !ok {
				t.Errorf("%s: docs/formats.md has no row for the event %q", path, message)
			}
			for i := 1; i < len(call.Args); i += 2 {
				if key, ok := literal(call.Args[i]); ok && !strings.Contains(row, "`"+key+"`") {
					t.Errorf("%s: docs/formats.md does not name the key %s of the event %q", path, key, message)
				}
			}
			return true
		})
	}
	if found < 30 {
		t.Errorf("found %d events in the code, expected some 40", found)
	}
}

// literal returns the value of a string literal.
func literal(e ast.Expr) (string, bool) {
	l, ok := e.(*ast.BasicLit)
	if !ok || l.Kind != token.STRING {
		return "", false
	}
	s, err := strconv.Unquote(l.Value)
	return s, err == nil
}
