//go:build !amd64 || purego

package kernel

// byteTiles are a ByteConv's weights for AMX, which only amd64 has.
type byteTiles struct{}

func (byteTiles) arrange(*ByteConv) {}

func (*ByteConv) applyTiles(*imagePass, []uint8, int, Bounds, *ByteSpace) bool { return false }
