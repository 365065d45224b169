package xboard

import (
	"slices"
	"strings"
)

// Feature is one NAME=VALUE of the command "feature".
type Feature struct{ Name, Value string }

// maxFeatures bounds the features of one line.
const maxFeatures = 100

// ParseFeatures reads what follows the word "feature". Values with spaces stand in
// quotes, which are taken off. Reading ends where the text has not that form.
func ParseFeatures(text string) []Feature {
	var all []Feature
	for len(all) < maxFeatures {
		name, rest, ok := strings.Cut(strings.TrimSpace(text), "=")
		if !ok || name == "" || strings.ContainsAny(name, " \t\"") {
			break
		}
		var value string
		if quoted, ok := strings.CutPrefix(rest, `"`); ok {
			if value, text, ok = strings.Cut(quoted, `"`); !ok {
				break
			}
		} else {
			value, text, _ = strings.Cut(rest, " ")
		}
		all = append(all, Feature{name, value})
	}
	return all
}

// features are those an engine has set, and the protocol's values for the others.
type features struct {
	ping, setboard, usermove, san, time, reuse, memory, smp, nps bool
	// variants are the games it plays; nil if it does not say, which means all.
	variants []string
	options  []listedOption
	done     bool // the introduction is over
	wait     bool // it will take its time for the introduction
}

func defaultFeatures() features { return features{time: true, reuse: true} }

// listedOption is an option of an engine.
type listedOption struct{ name, kind string }

// maxListed bounds how many options of an engine are kept.
const maxListed = 1000

// set takes a feature. It reports whether it is one that the client knows, and myname
// if it is that.
func (f *features) set(v Feature) (known bool, myname string) {
	on := v.Value == "1"
	switch v.Name {
	case "ping":
		f.ping = on
	case "setboard":
		f.setboard = on
	case "usermove":
		f.usermove = on
	case "san":
		f.san = on
	case "time":
		f.time = on
	case "reuse":
		f.reuse = on
	case "memory":
		f.memory = on
	case "smp":
		f.smp = on
	case "nps":
		f.nps = on
	case "variants":
		f.variants = strings.FieldsFunc(v.Value, func(r rune) bool { return r == ',' || r == ' ' })
	case "option":
		f.list(v.Value)
	case "myname":
		myname = v.Value
	case "done":
		f.done, f.wait = on, !on
	case "colors", "playother", "analyze", "draw", "sigint", "sigterm", "debug":
		// The client uses none of these, whatever the engine says of them.
	default:
		return false, ""
	}
	return true, myname
}

// list notes an option: "NAME -KIND ...".
func (f *features) list(text string) {
	i := strings.LastIndex(text, " -")
	for j := i; j > 0; j = strings.LastIndex(text[:j], " -") {
		if slices.Contains(optionKinds, firstWord(text[j+2:])) {
			i = j
		}
	}
	if i > 0 && len(f.options) < maxListed {
		f.options = append(f.options, listedOption{strings.TrimSpace(text[:i]), firstWord(text[i+2:])})
	}
}

// optionKinds are the kinds of options; the first four have no value.
var optionKinds = []string{"button", "save", "reset", "label", "check", "spin", "slider", "string", "combo", "file", "path"}

func firstWord(text string) string {
	word, _, _ := strings.Cut(text, " ")
	return word
}
