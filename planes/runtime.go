package planes

// Runtime runs a net. It is for one goroutine at a time unless the documentation of
// an implementation allows more.
type Runtime interface {
	// Run runs the net on n positions and fills out. in, [n, Channels, 8, 8],
	// holds the numbers that Encode writes: an implementation may rely on planes
	// for which Constant is true being constant. Another length of in, or n < 1, is an
	// error.
	Run(in []float32, n int, out *Output) error
	// Close frees what the runtime holds outside Go's memory. The runtime
	// must not be used after it.
	Close() error
}

// Names of the input and the outputs in an ONNX file; the first three are
// CrazyAra's.
const (
	InputName     = "data"
	ValueName     = "value_out"
	PolicyName    = "policy_out"
	WDLName       = "wdl_out"
	PliesLeftName = "plies_left_out"
)

// Output holds the outputs of a net for n positions, position after position. A
// runtime reuses the memory of the slices, sets them to the lengths stated here, and
// to length 0 where its net has no such output.
type Output struct {
	// Value [n] is the expected result of the side to move, from -1 to 1.
	Value []float32
	// Policy [n, PolicySize] holds logits by cell. Nets with a flat policy
	// give [n, Labels], by label.
	Policy []float32
	// WDL [n, 3] holds the probabilities of loss, draw and win of the side to
	// move, in this order.
	WDL []float32
	// PliesLeft [n] is the number of plies to the end of the game divided by
	// PliesScale, from 0 to 1.
	PliesLeft []float32
}

// PliesScale is the number of plies to the end of the game for which
// Output.PliesLeft is 1. Longer games count as this long.
const PliesScale = 100
