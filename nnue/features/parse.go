package features

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/internal/words"
)

// Why an expression was refused; a *ParseError wraps one of them.
var (
	// ErrSyntax: the text is no expression.
	ErrSyntax = errors.New("not an expression of feature sets")
	// ErrUnknownSet: no block has the name given.
	ErrUnknownSet = errors.New("unknown feature set")
	// ErrNoHands: the block is about hands, which the variant does not have.
	ErrNoHands = errors.New("feature set needs hands")
	// ErrTooLarge: the set has more features than MaxSize, or more active at
	// once than MaxActiveLimit.
	ErrTooLarge = errors.New("feature set too large")
)

// What an expression may have at most.
const (
	MaxExpression = 400 // bytes
	maxNesting    = 32  // parentheses in parentheses
)

// ParseError says where and why an expression was refused.
type ParseError struct {
	Column   int    // in characters, from 1
	Found    string // what stood there
	Expected string // what may stand there
	Err      error  // ErrSyntax, ErrUnknownSet, ErrNoHands or ErrTooLarge
}

func (e *ParseError) Error() string {
	return fmt.Sprintf("features: column %d: %v: found %s, expected %s", e.Column, e.Err, e.Found, e.Expected)
}

// Unwrap returns e.Err.
func (e *ParseError) Unwrap() error { return e.Err }

// Parse returns the set that an expression means for a variant:
//
//	sum     = product { "+" product }
//	product = factor { "*" factor }
//	factor  = name of a block | "(" sum ")"
//
// Spaces separate and are otherwise without meaning; the case of names matters.
// Errors are of type *ParseError.
func Parse(expression string, v *chess.Variant) (Set, error) {
	p := parser{text: expression, variant: v}
	if len(expression) > MaxExpression {
		return nil, p.errorAt(0, ErrSyntax, fmt.Sprintf("%d bytes", len(expression)), fmt.Sprintf("at most %d", MaxExpression))
	}
	set, err := p.sum()
	if err != nil {
		return nil, err
	}
	if p.skip(); p.at < len(p.text) {
		return nil, p.unexpected("an operator or the end")
	}
	return set, nil
}

type parser struct {
	text    string
	at      int // byte
	depth   int // open parentheses
	variant *chess.Variant
}

func (p *parser) sum() (Set, error) {
	return p.chain('+', p.product, func(a, b Set) (Set, error) { return Sum(a, b) })
}

func (p *parser) product() (Set, error) { return p.chain('*', p.factor, Product) }

// chain reads operands with operators between them and joins them.
func (p *parser) chain(operator byte, operand func() (Set, error), join func(a, b Set) (Set, error)) (Set, error) {
	set, err := operand()
	for err == nil && p.next(operator) {
		start := p.at - 1
		var right Set
		if right, err = operand(); err != nil {
			break
		}
		if set, err = join(set, right); err != nil {
			err = p.tooLarge(start, err)
		}
	}
	return set, err
}

func (p *parser) factor() (Set, error) {
	if !p.next('(') {
		return p.block()
	}
	start := p.at - 1
	if p.depth++; p.depth > maxNesting {
		return nil, p.errorAt(start, ErrSyntax, fmt.Sprintf("%d parentheses open", p.depth), fmt.Sprintf("at most %d", maxNesting))
	}
	set, err := p.sum()
	if err != nil {
		return nil, err
	}
	if !p.next(')') {
		return nil, p.unexpected(`an operator or ")"`)
	}
	p.depth--
	return set, nil
}

func (p *parser) block() (Set, error) {
	p.skip()
	start := p.at
	for p.at < len(p.text) && isNameByte(p.text[p.at]) {
		p.at++
	}
	name := p.text[start:p.at]
	if name == "" {
		return nil, p.unexpected(`a block or "("`)
	}
	for _, b := range registry {
		switch {
		case b.name != name:
		case b.hands && !p.variant.CapturesToHand:
			return nil, p.errorAt(start, ErrNoHands, quote(name)+" for "+p.variant.Name, "a variant in which captures go to hand")
		default:
			return b.set(p.variant), nil
		}
	}
	return nil, p.errorAt(start, ErrUnknownSet, quote(name), fmt.Sprintf("a block such as %q", words.Nearest(name, Blocks(p.variant))))
}

func isNameByte(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// skip goes past spaces.
func (p *parser) skip() {
	for p.at < len(p.text) && p.text[p.at] == ' ' {
		p.at++
	}
}

// next goes past c if it comes next.
func (p *parser) next(c byte) bool {
	p.skip()
	if p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

func (p *parser) unexpected(expected string) error {
	found := "the end"
	if rest := p.text[p.at:]; rest != "" {
		_, n := utf8.DecodeRuneInString(rest)
		for n < len(rest) && isNameByte(rest[n-1]) && isNameByte(rest[n]) {
			n++
		}
		found = quote(rest[:n])
	}
	return p.errorAt(p.at, ErrSyntax, found, expected)
}

// tooLarge puts an error of Sum or Product at the operator's place.
func (p *parser) tooLarge(at int, err error) error {
	var large *limitError
	if !errors.As(err, &large) {
		return err
	}
	return p.errorAt(at, ErrTooLarge, large.found, large.expected)
}

func (p *parser) errorAt(at int, err error, found, expected string) error {
	return &ParseError{Column: 1 + utf8.RuneCountInString(p.text[:at]), Found: found, Expected: expected, Err: err}
}

// quote quotes a name, shortened if long.
func quote(s string) string {
	const most = 24
	if len(s) > most {
		s = s[:most] + "…"
	}
	return fmt.Sprintf("%q", s)
}
