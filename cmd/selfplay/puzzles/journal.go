package puzzles

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/crazyhouse-rl/selfplay/dataset"
	"github.com/crazyhouse-rl/selfplay/lab/puzzles"
	"github.com/crazyhouse-rl/selfplay/player"
)

// header is the first line of the journal: what the puzzles of a game depend on, and
// from where its games are counted.
type header struct {
	Format   string            `json:"format"`
	Variant  string            `json:"variant"`
	Games    []string          `json:"games"`            // names of files
	Oldest   map[string]string `json:"oldest,omitempty"` // game of each replay buffer that had any; journals of earlier builds have none
	Net      string            `json:"net"`
	Player   string            `json:"player"`
	HashMB   int               `json:"hash_mb"`
	Settings puzzles.Settings  `json:"settings"`
}

// journal opens the journal at path of what m finds in the games of files. One that
// counts from games that are no longer the oldest of their replay buffer is refused where
// games are still to be read.
func (o *mineOptions) journal(ctx context.Context, path string, src *source, names []string, m *player.Maker) (*puzzles.Journal, error) {
	was, found := readHeader(path)
	oldest := was.Oldest
	if !found {
		var err error
		if oldest, err = src.oldest(ctx, names); err != nil {
			return nil, err
		}
	}
	text, err := json.Marshal(header{"selfplay puzzles journal 1", o.variant, names, oldest, m.Net, m.Settings, o.hash, o.settings})
	if err != nil {
		return nil, err
	}
	j, err := puzzles.OpenJournal(path, src.variant, string(text))
	if err != nil || !found || o.games > 0 && o.games <= j.Games {
		return j, err
	}
	if err := checkOldest(ctx, path, src, oldest, j.Games); err != nil {
		j.Close()
		return nil, err
	}
	return j, nil
}

// checkOldest refuses to go on after a number of games where a replay buffer does not
// begin with the game that it began with.
func checkOldest(ctx context.Context, path string, src *source, oldest map[string]string, games int) error {
	names := slices.Sorted(maps.Keys(oldest))
	now, err := src.oldest(ctx, names)
	if err != nil {
		return err
	}
	for _, name := range names {
		if now[name] != oldest[name] {
			return fmt.Errorf("%s: %w: %s: found %q as the oldest game, expected %q, from which the journal counts: old games were deleted or actors excluded; delete the journal to begin anew, or choose of the games that are done by --games %d or fewer",
				path, puzzles.ErrJournal, name, now[name], oldest[name], games)
		}
	}
	return nil
}

// readHeader reads the first line of a journal with games. What is wrong with others
// OpenJournal says.
func readHeader(path string) (h header, found bool) {
	f, err := os.Open(path)
	if err != nil {
		return h, false
	}
	defer f.Close()
	lines := bufio.NewReader(f)
	first, err := lines.ReadString('\n')
	if err != nil {
		return h, false
	}
	if _, err := lines.Peek(1); err != nil {
		return h, false
	}
	err = json.Unmarshal([]byte(strings.TrimPrefix(first, "# ")), &h)
	return h, err == nil
}

// oldest returns the id of the first game of each replay buffer among the files that has
// games.
func (s *source) oldest(ctx context.Context, names []string) (map[string]string, error) {
	ids := map[string]string{}
	for _, name := range names {
		if !strings.HasPrefix(name, dataset.BufferPrefix) {
			continue
		}
		for g, err := range s.games(ctx, []string{name}) {
			if err != nil {
				return nil, err
			}
			ids[name] = g.ID
			break
		}
	}
	return ids, nil
}
