package chain

import (
	"errors"
	"io"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/sample"
)

// Info is what Recover finds out about a file.
type Info struct {
	Variant *chess.Variant // nil if there are no blocks
	Unit    sample.Unit
	Blocks  int64
	Items   int64 // games and chains
	Plies   int64
	Last    int64 // where the last whole block begins
	End     int64 // of the last whole block: where another may be written
}

// Recover reads the blocks of a stream, without looking into them, to find where
// the last whole one ends.
func Recover(in io.Reader) (Info, error) {
	r := NewReader(in)
	r.begin()
	var info Info
	for {
		err := r.nextBlock()
		switch {
		case err == nil:
			info.Blocks++
			info.Items += int64(r.head.items)
			info.Plies += int64(r.head.plies)
			info.Last = r.offset
			info.End = r.offset + int64(r.toSkip)
			r.spoilt = true // the items are not counted
		case errors.Is(err, io.EOF):
			info.Variant, info.Unit = r.head.variant, r.Unit()
			return info, nil
		case !errors.Is(err, sample.ErrRecord): // else there are more blocks after it
			return info, err
		}
	}
}
