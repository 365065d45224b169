package player

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// UnmarshalYAML reads a player as text, as Parse does, or as a mapping with the same
// keys and those of who plays:
//
//	net: runs/laptop            # a file, a directory or a word, as in the text
//	search: mcts                # ab or mcts, if the net does not say
//	nodes: 800
//
//	engine: fairy-stockfish -x  # another program's engine and its arguments
//	protocol: uci               # or xboard
//	options: {Hash: 64, Skill Level: 5}
//	movetime: 50ms
//
// Errors wrap ErrUsage.
func (s *Spec) UnmarshalYAML(unmarshal func(any) error) error {
	var text string
	if err := unmarshal(&text); err == nil {
		*s, err = Parse(text)
		return err
	}
	var values map[string]any
	if err := unmarshal(&values); err != nil {
		return fmt.Errorf("%w: player: %w", ErrUsage, err)
	}
	var next Spec
	if err := next.setAll(values); err != nil {
		return fmt.Errorf("%w: player: %w", ErrUsage, err)
	}
	*s = next
	return nil
}

func (s *Spec) setAll(values map[string]any) error {
	values = maps.Clone(values)
	take := func(key string) (string, bool) {
		v, ok := values[key]
		delete(values, key)
		return yamlText(v), ok
	}
	net, hasNet := take("net")
	command, isEngine := take("engine")
	by, hasSearch := take("search")
	protocol, hasProtocol := take("protocol")
	switch {
	case hasNet == isEngine:
		return errors.New("found net and engine, or neither, expected one of them")
	case isEngine && hasSearch:
		return errors.New("found search beside engine, expected it beside net only")
	case hasProtocol && !isEngine:
		return errors.New("found protocol beside net, expected it beside engine only")
	case hasProtocol && !Search(protocol).Foreign():
		return fmt.Errorf("protocol: found %q, expected %s or %s", protocol, Engine, XBoard)
	case hasSearch && by != string(AlphaBeta) && by != string(TreeSearch):
		return fmt.Errorf("search: found %q, expected %s or %s", by, AlphaBeta, TreeSearch)
	case isEngine:
		s.Search = Engine
		if hasProtocol {
			s.Search = Search(protocol)
		}
		if err := s.setCommand(command); err != nil {
			return err
		}
	case net == "":
		return errors.New("net: found nothing, expected a file, a directory or a word")
	default:
		s.Search = Search(by)
		if !hasSearch {
			s.Search = ""
		}
		s.setNet(net)
	}
	seen := map[string]bool{}
	if options, ok := values["options"].(map[string]any); ok && isEngine {
		delete(values, "options")
		for _, name := range slices.Sorted(maps.Keys(options)) {
			if slices.Contains(engineKeys, name) {
				return fmt.Errorf("options: %s is a setting, not an option of an engine", name)
			}
			if err := s.setOnce(seen, name, yamlText(options[name])); err != nil {
				return fmt.Errorf("options: %w", err)
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if isEngine && !slices.Contains(engineKeys, key) {
			return fmt.Errorf("found setting %q, expected net, engine, options or one of %q", key, engineKeys)
		}
		if err := s.setOnce(seen, key, yamlText(values[key])); err != nil {
			return err
		}
	}
	return s.Runtime.check()
}

// yamlText returns a value as text; null, as YAML has a value left empty, is the empty
// text.
func yamlText(value any) string {
	if value == nil {
		return ""
	}
	return fmt.Sprint(value)
}

// MarshalYAML gives the mapping that UnmarshalYAML reads.
func (s Spec) MarshalYAML() (any, error) {
	values := map[string]any{}
	if s.Search.Foreign() {
		text := Spec{Search: Engine, Command: s.Command}.String()
		values["engine"] = text[len("uci:"):]
		if s.Search != Engine {
			values["protocol"] = string(s.Search)
		}
		if len(s.Options) > 0 {
			values["options"] = s.Options
		}
	} else {
		values["net"], values["search"] = s.Net, string(s.Search)
	}
	for _, p := range s.pairs() {
		if _, isOption := s.Options[p.key]; !isOption {
			values[p.key] = p.value
		}
	}
	return values, nil
}
