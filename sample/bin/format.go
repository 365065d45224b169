package bin

import "fmt"

// Format is a size of record.
type Format uint8

// The formats.
const (
	// Bits512 has records of 72 bytes, for crazyhouse and chess.
	Bits512 Format = iota
	// Bits256 has records of 40 bytes, for chess only.
	Bits256
)

// layout is where the formats differ.
type layout struct {
	name     string
	position int  // bytes of the position
	king     uint // bits of a king's or en passant square
	ep       uint
	kind     uint // bits of 2·kind+1 on the board
	hand     uint // bits of a count in hand, 0 if there are no hands
	loses    string
}

// tail is the size of what follows the position.
const tail = 8

var layouts = [...]layout{
	Bits512: {
		name: "512-bit .bin", position: 64, king: 7, ep: 7, kind: 5, hand: 5,
		loses: "which piece a move drops or promotes to, which pieces are promoted pawns, halfmove clocks above 127, which become 127, and that a game is of Chess960",
	},
	Bits256: {
		name: "256-bit .bin", position: 32, king: 6, ep: 6, kind: 4,
		loses: "halfmove clocks above 127, which become 127, and that a game is of Chess960",
	},
}

// largeData is the layout of builds with largedata=yes, which is only told from
// the others, not read.
var largeData = layout{position: 128, king: 7, ep: 7, kind: 5, hand: 7}

func (f Format) layout() *layout { return &layouts[f&1] }

// RecordSize returns the bytes of a record.
func (f Format) RecordSize() int { return f.layout().position + tail }

// Loses says what of a sample the format does not keep, in words that complete
// "does not keep"; it is empty if it keeps all.
func (f Format) Loses() string { return f.layout().loses }

// String returns the name of the format.
func (f Format) String() string {
	return fmt.Sprintf("%s (%d bytes a record)", f.layout().name, f.RecordSize())
}
