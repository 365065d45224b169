package chess

import (
	"strconv"
	"strings"
)

// ParseEPD reads a line of an EPD file: a position of v as the first four fields
// of a FEN; its clocks as a FEN has them, one of them or none; and operations,
// which are a name, an operand and a semicolon, such as `ce 35; id "a name";`.
// The last semicolon may be missing, and operands lose their quotes. So a FEN is
// an EPD too. Of the operations, returned by name, hmvc and fmvn stand for the
// clocks. Errors are those of [ParseFEN]. Source: PGN standard of 1994, section
// 16.2.
func ParseEPD(v *Variant, line string) (Position, map[string]string, error) {
	var fields [6]string
	rest := line
	for i := range 4 {
		fields[i], rest = cutField(rest)
	}
	if fields[3] == "" {
		return Position{}, nil, &FENError{Field: "fields", Found: quote(line), Expected: "a FEN or at least its first four fields"}
	}
	fields[4], fields[5] = "0", "1"
	for i := 4; i < 6; i++ {
		field, after := cutField(rest)
		if n := strings.TrimSuffix(field, ";"); isNumber(n) {
			fields[i], rest = n, after
		}
	}
	operations := make(map[string]string)
	for rest != "" {
		var name, operand string
		name, operand, rest = cutOperation(rest)
		switch name {
		case "":
		case "hmvc":
			fields[4] = operand
		case "fmvn":
			fields[5] = operand
		default:
			operations[name] = operand
		}
	}
	p, err := ParseFEN(v, strings.Join(fields[:], " "))
	return p, operations, err
}

// cutField cuts the first field off a line.
func cutField(s string) (field, rest string) {
	s = strings.TrimLeft(s, " \t")
	if i := strings.IndexAny(s, " \t"); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

// cutOperation cuts the first operation off a line.
func cutOperation(s string) (name, operand, rest string) {
	quoted, end := false, len(s)
	for i := range len(s) {
		if s[i] == '"' {
			quoted = !quoted
		}
		if s[i] == ';' && !quoted {
			end = i
			break
		}
	}
	name, operand = cutField(s[:end])
	return name, strings.Trim(operand, " \t\""), strings.TrimPrefix(s[end:], ";")
}

func isNumber(s string) bool {
	_, err := strconv.ParseUint(s, 10, 32)
	return err == nil
}
