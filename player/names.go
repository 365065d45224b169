package player

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
)

// LoadAll loads players for one table of results. Those whose names would be equal
// are distinguished by what differs: the directories of their nets, their limits, their
// settings, or else a number.
func LoadAll(ctx context.Context, specs []Spec, v *chess.Variant, d Defaults) ([]*Maker, error) {
	all := make([]*Maker, len(specs))
	for i, s := range specs {
		var err error
		if all[i], err = s.Load(ctx, v, d); err != nil {
			return nil, err
		}
	}
	for _, words := range []func(group []*Maker) []string{differentPaths, differentLimits, differentSettings} {
		for _, group := range sameName(all) {
			for i, w := range words(group) {
				if w != "" && group[i].Spec.Name == "" {
					group[i].Name = strings.TrimPrefix(group[i].Name+" "+w, " ")
				}
			}
		}
	}
	used := map[string]bool{}
	for _, m := range all {
		name := m.Name
		for n := 2; used[m.Name]; n++ {
			m.Name = fmt.Sprintf("%s (%d)", name, n)
		}
		used[m.Name] = true
	}
	return all, nil
}

// sameName returns the groups of players with equal names.
func sameName(all []*Maker) [][]*Maker {
	byName := map[string][]*Maker{}
	var names []string
	for _, m := range all {
		if len(byName[m.Name]) == 1 {
			names = append(names, m.Name)
		}
		byName[m.Name] = append(byName[m.Name], m)
	}
	var groups [][]*Maker
	for _, name := range names {
		groups = append(groups, byName[name])
	}
	return groups
}

// differentPaths returns, for each player, the name of the directory nearest to its
// net that not all players of the group have; nothing if they have the same ones.
func differentPaths(group []*Maker) []string {
	dirs := make([][]string, len(group))
	for i, m := range group {
		path := m.Spec.Net
		if m.Spec.Search.Foreign() {
			path = m.Spec.Command[0]
		}
		parts := strings.Split(filepath.ToSlash(filepath.Clean(path)), "/")
		slices.Reverse(parts)
		dirs[i] = parts[1:]
	}
	words := make([]string, len(group))
	for depth := 0; ; depth++ {
		differ := false
		for i := range dirs {
			if depth >= len(dirs[i]) {
				return make([]string, len(group)) // a path ends: nothing short distinguishes it
			}
			words[i] = dirs[i][depth]
			differ = differ || words[i] != words[0]
		}
		if differ {
			return words
		}
	}
}

func differentLimits(group []*Maker) []string {
	return unlessEqual(group, func(m *Maker) string { return game.LimitsText(m.Limits) })
}

// differentSettings returns the settings that not all players of a group have.
func differentSettings(group []*Maker) []string {
	return unlessEqual(group, func(m *Maker) string {
		words := slices.DeleteFunc(m.settings(), func(w string) bool {
			return !slices.ContainsFunc(group, func(other *Maker) bool { return !slices.Contains(other.settings(), w) })
		})
		return strings.Join(words, ", ")
	})
}

// settings parts Settings into single ones.
func (m *Maker) settings() []string {
	if m.Spec.Search.Foreign() {
		return strings.Split(m.Settings, ",")
	}
	return strings.Split(m.Settings, ", ")
}

// unlessEqual returns what text says of each player, nothing if it says the same of
// all.
func unlessEqual(group []*Maker, text func(*Maker) string) []string {
	words := make([]string, len(group))
	differ := false
	for i, m := range group {
		words[i] = text(m)
		differ = differ || words[i] != words[0]
	}
	if !differ {
		return make([]string, len(group))
	}
	return words
}
