package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/player"
)

// ParsePlayers reads players as arguments have them.
func ParsePlayers(texts []string) ([]player.Spec, error) {
	specs := make([]player.Spec, len(texts))
	for i, text := range texts {
		var err error
		if specs[i], err = player.Parse(text); err != nil {
			return nil, err
		}
	}
	return specs, nil
}

// LoadPlayer loads the player of a flag, and says which net of a directory plays.
func LoadPlayer(ctx context.Context, stderr io.Writer, text string, v *chess.Variant, d player.Defaults) (*player.Maker, error) {
	s, err := player.Parse(text)
	if err != nil {
		return nil, err
	}
	m, err := s.Load(ctx, v, d)
	if err == nil {
		ShowOrigin(stderr, m.Origin)
	}
	return m, err
}

// mostAtATime bounds how many goroutines, each with its players, a flag may ask for.
const mostAtATime = 1024

// AtATime refuses a number of things done at a time, given by flag, of which each has
// players by all makers: none, and one whose players do not fit into memory.
func AtATime(flag string, n int, makers ...*player.Maker) error {
	if n < 1 || n > mostAtATime {
		return fmt.Errorf("%w: --%s: found %d, expected 1 to %d", ErrUsage, flag, n, mostAtATime)
	}
	tables := 0
	for _, m := range makers {
		tables += m.TableMB()
	}
	if most := player.MaxHashMB(); n*tables > most {
		return fmt.Errorf("%w: --%s: found %d with tables of %d MiB for each, expected %d MiB in all on this machine: ask for fewer, or for smaller tables", ErrUsage, flag, n, tables, most)
	}
	return nil
}

// NetFile returns the file of a net that is given as a file or as the directory of a
// run or of learn, and says which net of a directory it is.
func NetFile(stderr io.Writer, path string) (string, error) {
	found, err := nets.Find(path)
	if err == nil {
		ShowOrigin(stderr, found.Origin)
	}
	return found.Path, err
}

// ShowOrigin prints which net of a directory is used; files need no words.
func ShowOrigin(stderr io.Writer, origin string) {
	if origin != "" {
		fmt.Fprintln(stderr, origin)
	}
}
