package mockengine

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ErrScript is wrapped by every error about a script.
var ErrScript = errors.New("mockengine: bad script")

// step is what to do at a command.
type step struct {
	trigger string
	from    int // the command's first number, 1 for the first of its kind
	to      int // its last, 0 for no end
	actions []action
}

type action struct {
	verb   string
	text   string
	number int           // of exit
	span   time.Duration // of sleep
}

// argument says what follows each verb.
var argument = map[string]string{
	"obey": "", "echo": "", "think": "", "kill": "", "hang": "", "flood": "", "endless": "", "close": "", "child": "",
	"print": "text", "complain": "text", "sleep": "time", "exit": "status",
}

// parseScript reads a script.
func parseScript(text string) ([]step, error) {
	var steps []step
	for part := range strings.SplitSeq(text, ";") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		s, err := parseStep(part)
		if err != nil {
			return nil, fmt.Errorf("%w: step %q: %w", ErrScript, strings.TrimSpace(part), err)
		}
		steps = append(steps, s)
	}
	return steps, nil
}

func parseStep(text string) (step, error) {
	head, tail, ok := strings.Cut(text, ":")
	if !ok {
		return step{}, errors.New("found no colon, expected TRIGGER: ACTION")
	}
	trigger, number, numbered := strings.Cut(strings.TrimSpace(head), "#")
	s := step{trigger: trigger, from: 1}
	if trigger == "" || strings.ContainsAny(trigger, " \t") {
		return step{}, fmt.Errorf("found trigger %q, expected one word", trigger)
	}
	if numbered {
		digits, open := strings.CutSuffix(number, "+")
		n, err := strconv.Atoi(digits)
		if err != nil || n < 1 {
			return step{}, fmt.Errorf("found number %q, expected one such as 3 or 3+", number)
		}
		s.from = n
		if !open {
			s.to = n
		}
	}
	for part := range strings.SplitSeq(tail, "|") {
		a, err := parseAction(strings.TrimSpace(part))
		if err != nil {
			return step{}, err
		}
		s.actions = append(s.actions, a)
	}
	return s, nil
}

func parseAction(text string) (action, error) {
	verb, rest, _ := strings.Cut(text, " ")
	a := action{verb: verb, text: rest}
	kind, known := argument[verb]
	var err error
	switch {
	case !known:
		return a, fmt.Errorf("found action %q, which is none", verb)
	case kind == "" && rest != "":
		return a, fmt.Errorf("found %q after %s, expected nothing", rest, verb)
	case kind == "time":
		if a.span, err = time.ParseDuration(rest); err != nil || a.span < 0 {
			return a, fmt.Errorf("found %q after %s, expected a time such as 50ms", rest, verb)
		}
	case kind == "status":
		if a.number, err = strconv.Atoi(rest); err != nil || a.number < 0 || a.number > 255 {
			return a, fmt.Errorf("found %q after %s, expected a status from 0 to 255", rest, verb)
		}
	}
	return a, nil
}

// fits reports whether the step is for the nth command of its kind.
func (s *step) fits(word string, n int) bool {
	return s.trigger == word && n >= s.from && (s.to == 0 || n <= s.to)
}
