package server

import (
	"fmt"
	"slices"
	"strings"

	uci "github.com/crazyhouse-rl/selfplay/uci/server"
)

// own are the options of UCI that the protocol has commands for, or no use.
var own = []string{"Hash", "Threads", "Ponder", "UCI_Variant", "UCI_Chess960", "UCI_ShowWDL", "UCI_EngineAbout"}

// introduce answers "protover" with the features.
func (s *server) introduce() {
	s.engine.Printf("feature done=0")
	s.engine.Printf("feature ping=1 setboard=1 playother=1 san=0 usermove=1 time=1 draw=0 sigint=0 sigterm=0 reuse=1 analyze=1")
	s.engine.Printf(`feature myname="%s" variants="normal,crazyhouse" colors=0 ics=0 name=0 pause=0 nps=1 debug=1 memory=1 smp=1`, s.engine.Name())
	for _, o := range s.engine.Options() {
		if !slices.Contains(own, o.Name) {
			s.engine.Printf(`feature option="%s"`, strings.ReplaceAll(describe(o), `"`, "'"))
		}
	}
	s.engine.Printf("feature done=1")
}

// describe writes an option of UCI as the protocol has it: NAME -KIND and, by its kind,
// default, least and greatest value, or the values with a star at the default.
func describe(o uci.Option) string {
	kind, rest, _ := strings.Cut(strings.TrimPrefix(o.Describe, "type "), " ")
	rest = strings.TrimPrefix(rest, "default ")
	switch kind {
	case "spin":
		rest = strings.NewReplacer(" min", "", " max", "").Replace(rest)
	case "check":
		rest = map[string]string{"true": "1", "false": "0"}[rest]
	case "combo":
		values := strings.Split(rest, " var ")
		choices := values[1:]
		for i, v := range choices {
			if v == values[0] {
				choices[i] = "*" + v
				break
			}
		}
		rest = strings.Join(choices, " /// ")
	case "string":
		rest = strings.TrimPrefix(rest, "<empty>")
	}
	return strings.TrimSpace(o.Name + " -" + kind + " " + rest)
}

// option obeys "memory MIB", "cores N" and "option NAME=VALUE".
func (s *server) option(word, rest string) error {
	name, value, _ := strings.Cut(rest, "=")
	switch word {
	case "memory":
		name, value = "Hash", rest
	case "cores":
		name, value = "Threads", rest
	}
	for _, o := range s.engine.Options() {
		if !strings.EqualFold(o.Name, strings.TrimSpace(name)) {
			continue
		}
		if strings.HasPrefix(o.Describe, "type check") {
			switch value {
			case "0":
				value = "false"
			case "1":
				value = "true"
			}
		}
		return s.engine.SetOption(o.Name, value)
	}
	return fmt.Errorf("found option %q, expected one of the features", name)
}
