package configs

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// oldArchitecture is the setting that files of earlier builds have for all of Net
// but the width.
const oldArchitecture = "net.architecture"

const (
	treeRuntime = "actor.tree.runtime"
	oldInt8     = "actor.tree.int8" // in its place in files of earlier builds, true for int8
)

const (
	scoreScale = "train.score_scale"
	fitOffset  = "train.fit_offset"
)

// oldToken is the setting in which configurations of earlier builds had the bus's
// shared secret itself. They all have the key, most of them empty.
const oldToken = "bus.token"

// refuseToken returns an error unless the secret found under oldToken is empty. The
// error, which begins with where it was found, does not show it.
func refuseToken(found any, where string) error {
	if found == "" {
		return nil
	}
	return fmt.Errorf("%w: %s%s: found a secret, expected none here: put it into a file of mode 0600, name that file with bus.token_file, and delete this setting", ErrInvalid, where, oldToken)
}

// oldSchedule is a schedule as files of earlier builds have it: in several settings.
type oldSchedule struct {
	keys []string // the first is that of the schedule now
	// split returns the values of the settings in a schedule written as text has it,
	// "" where it does not say.
	split func(text string) []string
	join  func(values []string) string
}

var oldSchedules = []oldSchedule{
	{
		keys: []string{"train.lr", "train.lr_final", "train.lr_steps", "train.warmup_steps"},
		split: func(text string) []string {
			m := regexp.MustCompile(`^(?:warmup:(\d+),)?cosine:([^:,]+):([^:,]+):(\d+)$`).FindStringSubmatch(text)
			if m == nil {
				return make([]string, 4)
			}
			return []string{m[2], m[3], m[4], cmp.Or(m[1], "0")}
		},
		join: func(v []string) string {
			text := fmt.Sprintf("cosine:%s:%s:%s", v[0], v[1], v[2])
			if v[3] != "0" {
				text = "warmup:" + v[3] + "," + text
			}
			return text
		},
	},
	{
		keys: []string{"train.lambda", "train.lambda_final", "train.lambda_steps"},
		split: func(text string) []string {
			v := strings.Split(strings.TrimPrefix(text, "linear:"), ":")
			switch len(v) {
			case 1:
				return []string{v[0], v[0], "1"}
			case 3:
				return v
			}
			return make([]string, 3)
		},
		join: func(v []string) string {
			if v[0] == v[1] {
				return v[0]
			}
			return fmt.Sprintf("linear:%s:%s:%s", v[0], v[1], v[2])
		},
	},
}

// replaced says what takes the place of a setting of earlier builds, "" if key is
// none.
func replaced(key string) string {
	if key == oldArchitecture {
		return "net.features, net.buckets and so on; see also the preset fairy"
	}
	if key == oldInt8 {
		return treeRuntime
	}
	for _, old := range oldSchedules {
		if slices.Contains(old.keys[1:], key) {
			return old.keys[0] + ", a schedule such as warmup:50,cosine:0.003:0.0003:11000"
		}
	}
	return ""
}

// translate replaces settings of earlier builds among a file's values, which are
// laid over c, by what they meant.
func (c *Config) translate(values map[string]any, name string) error {
	if found, ok := values[oldToken]; ok {
		if err := refuseToken(found, name+": "); err != nil {
			return err
		}
		delete(values, oldToken)
	}
	if err := translateNet(values, name); err != nil {
		return err
	}
	if err := translateTree(values, name); err != nil {
		return err
	}
	isOld := false
	for _, old := range oldSchedules {
		given := slices.DeleteFunc(slices.Clone(old.keys), func(key string) bool { _, ok := values[key]; return !ok })
		if len(given) == 0 || len(given) == 1 && given[0] == old.keys[0] {
			continue
		}
		isOld = true
		parts := old.split(get(c, old.keys[0]))
		for i, key := range old.keys {
			if v, ok := values[key]; ok {
				parts[i] = fmt.Sprint(v)
			}
			if _, err := strconv.ParseFloat(parts[i], 64); err != nil {
				return fmt.Errorf("%w: %s: %s: found %q beside %s, expected a number, or instead of all these %s as a schedule",
					ErrInvalid, name, key, parts[i], strings.Join(given, ", "), old.keys[0])
			}
			delete(values, key)
		}
		values[old.keys[0]] = old.join(parts)
	}
	if isOld && values["net.kind"] == Planes { // these were no settings then
		for key, was := range map[string]any{"train.momentum": 0.95, "train.weight_decay": 0.0001} {
			if _, ok := values[key]; !ok {
				values[key] = was
			}
		}
	}
	return nil
}

// keepOffset leaves scores as they are where the saved settings of a run settle their
// scale and say nothing of fitOffset: it began before there was that setting.
func keepOffset(values map[string]any) {
	_, scale := values[scoreScale]
	if _, offset := values[fitOffset]; scale && !offset {
		values[fitOffset] = false
	}
}

// translateTree replaces oldInt8.
func translateTree(values map[string]any, name string) error {
	found, ok := values[oldInt8]
	if !ok {
		return nil
	}
	if _, both := values[treeRuntime]; both {
		return fmt.Errorf("%w: %s: found %s beside %s, expected one or the other", ErrInvalid, name, treeRuntime, oldInt8)
	}
	runtime, known := map[string]string{"true": "int8", "false": "native"}[fmt.Sprint(found)]
	if !known {
		return fmt.Errorf("%w: %s: %s: found %v, expected true or false, or instead %s", ErrInvalid, name, oldInt8, found, treeRuntime)
	}
	delete(values, oldInt8)
	values[treeRuntime] = runtime
	return nil
}

// translateNet replaces oldArchitecture.
func translateNet(values map[string]any, name string) error {
	found, ok := values[oldArchitecture]
	if !ok {
		return nil
	}
	buckets, known := map[string]string{"narrow": "hand", "fairy": "board"}[fmt.Sprint(found)]
	if !known {
		return fmt.Errorf("%w: %s: %s: found %v, expected narrow or fairy, or instead the keys net.features, net.buckets and so on", ErrInvalid, name, oldArchitecture, found)
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if strings.HasPrefix(key, "net.") && key != oldArchitecture && key != "net.width" {
			return fmt.Errorf("%w: %s: found %s beside %s, expected one or the other", ErrInvalid, name, key, oldArchitecture)
		}
	}
	delete(values, oldArchitecture)
	maps.Copy(values, map[string]any{
		"net.features": "HalfKAv2", "net.l2": 16, "net.l3": 32, "net.stacks": 8,
		"net.buckets": buckets, "net.psqt": true, "net.activation": "crelu",
	})
	return nil
}
