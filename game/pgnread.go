package game

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/crazyhouse-rl/selfplay/chess"
)

// ErrPGN is wrapped by every error about the syntax of PGN.
var ErrPGN = errors.New("bad PGN")

// PGNError says which game of a PGN file was refused, and why. It wraps
// [ErrPGN], or what else was wrong: [chess.ErrUnknownVariant], [ErrOutcome], a
// *chess.FENError or a *chess.MoveError.
type PGNError struct {
	Line int // from 1: of the fault, or of the first line of the game
	Err  error
}

// Error begins with the line.
func (e *PGNError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Unwrap returns the cause.
func (e *PGNError) Unwrap() error { return e.Err }

// Bounds of what one game of a PGN file may hold.
const (
	maxTags       = 200
	maxTagName    = 100  // bytes
	maxTagValue   = 4096 // bytes
	maxPGNWord    = 64   // bytes of a move
	maxPGNComment = 1000 // bytes kept of the comments after one move
)

// PGNRecord is a game as its text has it: nothing was checked against the rules.
type PGNRecord struct {
	Line   int               // where it begins, from 1
	Tags   map[string]string // names as they stand; of two with one name, the first
	Moves  []PGNMove
	Result chess.Outcome // after the moves or in the tag Result; Ongoing for "*" and none
}

// PGNMove is a move of the main line with what was said about it.
type PGNMove struct {
	Text    string // without number and NAGs; "!" and "?" may follow
	Comment string // all comments after the move, joined by spaces, the start of them if long
}

// PGNReader reads games from a PGN file one by one, whatever program wrote it,
// in bounded memory. It understands comments of both kinds, variations, which
// it skips, numeric and other glyphs, lines escaped by %, several tags on a
// line, quotation marks inside tag values, line ends of all systems, a byte
// order mark, and games without tags or without result.
type PGNReader struct {
	in     *bufio.Reader
	window []byte // what in holds
	at     int    // bytes of window already read
	ends   error  // why nothing follows the window
	err    error  // the same, once the window is read

	line  int  // of the next byte
	begun bool // the line of the next byte has something before it
	lost  bool // after an error: look for the next tags first
}

// NewPGNReader returns a reader of the games in r.
func NewPGNReader(r io.Reader) *PGNReader {
	reader := &PGNReader{in: bufio.NewReaderSize(r, 1<<16), line: 1}
	if mark := "\xef\xbb\xbf"; reader.starts(mark) {
		reader.at += len(mark)
	}
	return reader
}

// Next returns the next game. A game that cannot be read gives a [*PGNError],
// after which Next goes on with the game after it. At the end the error is
// io.EOF; any other is one of the file.
func (r *PGNReader) Next() (*PGNRecord, error) {
	for {
		rec, err := r.read()
		if err != nil || len(rec.Tags) > 0 || len(rec.Moves) > 0 {
			return rec, err
		}
	}
}

// read reads the next game, which is without tags and moves if there is only
// something that is no game.
func (r *PGNReader) read() (*PGNRecord, error) {
	if r.lost {
		r.lost = false
		r.seekTags()
	}
	if err := r.skipTo(); err != nil {
		return nil, err
	}
	rec := &PGNRecord{Line: r.line, Tags: make(map[string]string)}
	if err := r.readTags(rec); err != nil {
		return nil, err
	}
	result, err := r.readMoves(rec)
	if err != nil {
		return nil, err
	}
	tag := outcomes[strings.TrimSpace(rec.Tags["Result"])]
	if result != chess.Ongoing && tag != chess.Ongoing && result != tag {
		return nil, &PGNError{rec.Line, fmt.Errorf("%w: result %v after the moves, %v in the tag, expected one", ErrPGN, result, tag)}
	}
	if rec.Result = result; result == chess.Ongoing {
		rec.Result = tag
	}
	return rec, nil
}

// outcomes are the results as PGN programs write them; what is not here says
// that a game has none.
var outcomes = map[string]chess.Outcome{
	"1-0": chess.WhiteWins, "0-1": chess.BlackWins,
	"1/2-1/2": chess.Draw, "1/2": chess.Draw, "½-½": chess.Draw,
}

// fail makes an error at the present line, after which the reader is lost.
func (r *PGNReader) fail(found, expected string) error {
	if r.err != nil && r.err != io.EOF {
		return r.err
	}
	r.lost = true
	return &PGNError{r.line, fmt.Errorf("%w: found %s, expected %s", ErrPGN, found, expected)}
}

// ahead returns the next n bytes, fewer before the end or an error.
func (r *PGNReader) ahead(n int) []byte {
	if len(r.window)-r.at < n && r.ends == nil {
		r.in.Discard(r.at) // they are in its buffer
		r.at = 0
		_, r.ends = r.in.Peek(n)
		r.window, _ = r.in.Peek(r.in.Buffered())
	}
	if r.at == len(r.window) {
		r.err = r.ends
	}
	return r.window[r.at:min(r.at+n, len(r.window))]
}

// peek returns the next byte; 0 and false at the end. All ends of lines
// are '\n'.
func (r *PGNReader) peek() (byte, bool) {
	if r.at == len(r.window) && len(r.ahead(1)) == 0 {
		return 0, false
	}
	c := r.window[r.at]
	if c != '\r' {
		return c, true
	}
	if two := r.ahead(2); len(two) == 2 && two[1] == '\n' {
		r.at++
	}
	return '\n', true
}

// next returns the next byte and goes past it.
func (r *PGNReader) next() (byte, bool) {
	c, ok := r.peek()
	if !ok {
		return 0, false
	}
	r.at++
	r.begun = c != '\n' && (r.begun || c > ' ')
	if c == '\n' {
		r.line++
	}
	return c, true
}

// starts reports whether the text follows.
func (r *PGNReader) starts(text string) bool { return string(r.ahead(len(text))) == text }

func (r *PGNReader) skipLine() {
	for c, ok := r.next(); ok && c != '\n'; c, ok = r.next() {
	}
}

// seekTags goes to the next line that begins a game for certain: with the tag
// Event, or with any tag after a blank line.
func (r *PGNReader) seekTags() {
	if r.begun {
		r.skipLine()
	}
	for blank := false; ; {
		c, ok := r.peek()
		if !ok || c == '[' && (blank || r.starts("[Event ")) {
			return
		}
		blank = c == '\n'
		r.skipLine()
	}
}

// skipTo goes to the first byte of the next game, past comments and what else
// no game begins with.
func (r *PGNReader) skipTo() error {
	for {
		start := !r.begun
		c, ok := r.peek()
		switch {
		case !ok:
			return r.err
		case c == '{':
			if _, err := r.readComment(); err != nil {
				return err
			}
		case c == ';' || c == '%' && start:
			r.skipLine()
		case c <= ' ':
			r.next()
		default:
			return nil
		}
	}
}

// readTags reads the tags at the beginning of a game, if there are any.
func (r *PGNReader) readTags(rec *PGNRecord) error {
	for newlines := 0; ; {
		c, ok := r.peek()
		switch {
		case !ok:
			return nil
		case c == '%' && !r.begun || c == ';':
			r.skipLine()
		case c == '\n':
			newlines++
			r.next()
		case c <= ' ':
			r.next()
		case c != '[' || newlines > 1 && len(rec.Tags) > 0 && r.starts("[Event "):
			return nil
		default:
			newlines = 0
			name, value, err := r.readTag()
			if err != nil {
				return err
			}
			if _, twice := rec.Tags[name]; twice {
				break
			}
			if len(rec.Tags) == maxTags {
				return r.fail("one more tag", fmt.Sprintf("at most %d", maxTags))
			}
			rec.Tags[name] = value
		}
	}
}

// readTag reads [Name "value"]. A quotation mark ends the value only before ],
// for some programs do not escape those within; the marks around it may be
// missing.
func (r *PGNReader) readTag() (name, value string, err error) {
	r.next() // [
	var text []byte
	quoted := false
	for {
		c, ok := r.peek()
		if !ok || c == '\n' {
			return "", "", r.fail("the end of the line in a tag", `[Name "value"]`)
		}
		r.next()
		switch {
		case name == "" && (c <= ' ' || c == '"' || c == ']'):
			if len(text) > 0 {
				name, text = plain(text), nil
			}
			if c == '"' {
				quoted = true
			}
			if c == ']' || name == "" && quoted {
				return "", "", r.fail(fmt.Sprintf("the tag %.20q", name), `[Name "value"]`)
			}
		case name != "" && !quoted && len(text) == 0 && c <= ' ': // between name and value
		case name != "" && !quoted && len(text) == 0 && c == '"':
			quoted = true
		case quoted && c == '\\' && (r.starts(`"`) || r.starts(`\`)):
			c, _ = r.next()
			text = append(text, c)
		case quoted && c == '"' && r.closes(), name != "" && !quoted && c == ']':
			return name, plain(text), nil
		default:
			text = append(text, c)
		}
		if len(text) > maxTagValue || name == "" && len(text) > maxTagName {
			return "", "", r.fail("a long tag", fmt.Sprintf("a name of %d bytes at most and a value of %d", maxTagName, maxTagValue))
		}
	}
}

// closes reports whether ] follows, after blanks or at once, and goes past it.
func (r *PGNReader) closes() bool {
	const most = 8
	for i, c := range r.ahead(most) {
		switch c {
		case ' ', '\t':
		case ']':
			r.at += i + 1
			return true
		default:
			return false
		}
	}
	return false
}

// plain returns text as valid UTF-8.
func plain(text []byte) string {
	if utf8.Valid(text) {
		return string(text)
	}
	return strings.ToValidUTF8(string(text), "\ufffd")
}

// readMoves reads the words after the tags up to the result, or the tags of
// the next game, or the end, and returns the result.
func (r *PGNReader) readMoves(rec *PGNRecord) (chess.Outcome, error) {
	depth := 0 // of variations
	for {
		start := !r.begun
		c, ok := r.peek()
		switch {
		case !ok || c == '[' && start:
			if r.err != nil && r.err != io.EOF {
				return chess.Ongoing, r.err
			}
			if depth > 0 {
				err := r.fail("the end of the game in a variation", ")")
				r.lost = false // the next game begins here
				return chess.Ongoing, err
			}
			return chess.Ongoing, nil
		case c == ';' || c == '%' && start:
			r.skipLine()
		case c == '{':
			comment, err := r.readComment()
			if err != nil {
				return chess.Ongoing, err
			}
			if n := len(rec.Moves); depth == 0 && n > 0 {
				m := &rec.Moves[n-1]
				m.Comment = strings.TrimSpace(m.Comment + " " + comment)
				m.Comment = m.Comment[:min(len(m.Comment), maxPGNComment)]
			}
		case c == '(':
			depth++
			r.next()
		case c == ')':
			depth = max(depth-1, 0)
			r.next()
		case isWordByte(c):
			word := r.readWord()
			if depth > 0 {
				break
			}
			word = withoutNumber(word)
			if result, end := outcomes[word]; end || word == "*" {
				return result, nil
			}
			if err := r.addMove(rec, word); err != nil {
				return chess.Ongoing, err
			}
		case c == '$':
			r.skipNAG()
		default:
			r.next()
		}
	}
}

// addMove adds a move to the game, unless the word is a sign.
func (r *PGNReader) addMove(rec *PGNRecord, move string) error {
	switch {
	case isSign(move):
		return nil
	case len(move) > maxPGNWord:
		return r.fail(fmt.Sprintf("the word %.20q…", move), "a move")
	case len(rec.Moves) == MaxGamePlies:
		return r.fail("one more move", fmt.Sprintf("at most %d plies", MaxGamePlies))
	}
	rec.Moves = append(rec.Moves, PGNMove{Text: move})
	return nil
}

// isWordByte reports whether c may stand in a move, a number or a result.
func isWordByte(c byte) bool {
	switch c {
	case '{', '}', '(', ')', '[', ']', '<', '>', ';', '$', '"':
		return false
	}
	return c > ' '
}

// readWord reads to the end of a word, of which it returns the start if it is
// too long for a move.
func (r *PGNReader) readWord() string {
	var word []byte
	for {
		c, ok := r.peek()
		if !ok || !isWordByte(c) {
			return plain(word)
		}
		r.next()
		if len(word) <= maxPGNWord {
			word = append(word, c)
		}
	}
}

// skipNAG goes past $ and the number after it.
func (r *PGNReader) skipNAG() {
	r.next()
	for c, ok := r.peek(); ok && c >= '0' && c <= '9'; c, ok = r.peek() {
		r.next()
	}
}

// withoutNumber takes the number of a move and its dots off a word.
func withoutNumber(word string) string {
	rest := strings.TrimLeft(word, "0123456789")
	if rest != "" && rest[0] != '.' && !strings.HasPrefix(rest, "…") {
		return word // digits of another kind: 0-0, 1-0
	}
	return strings.TrimLeft(rest, ".…")
}

// isSign reports whether a word is no move: nothing, "e.p.", or without
// letters, as "+-" and "!?" are.
func isSign(word string) bool {
	if word == "e.p." || word == "ep" {
		return true
	}
	if word == "--" || strings.HasPrefix(word, "0-0") { // a null move, which is an error later; castling
		return false
	}
	return !strings.ContainsFunc(word, func(c rune) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' })
}

// readComment reads {…}. A comment that runs into the tags of another game was
// never closed.
func (r *PGNReader) readComment() (string, error) {
	line := r.line
	r.next() // {
	var text []byte
	for {
		c, ok := r.peek()
		if !ok || c == '[' && !r.begun && r.starts(`[Event "`) {
			if r.err != nil && r.err != io.EOF {
				return "", r.err
			}
			return "", &PGNError{line, fmt.Errorf("%w: found a comment without end, expected }", ErrPGN)}
		}
		r.next()
		if c == '}' {
			return strings.Join(strings.Fields(plain(text)), " "), nil
		}
		if len(text) < maxPGNComment {
			text = append(text, c)
		}
	}
}
