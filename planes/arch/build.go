package arch

import (
	"fmt"

	"github.com/crazyhouse-rl/selfplay/planes"
	"github.com/crazyhouse-rl/selfplay/planes/onnx"
)

// Epsilon is what batch normalisation adds to the variance.
const Epsilon = 1e-5

// squares of the board, each of which a convolution computes.
const squares = 64

// builder walks an architecture once and notes the nodes of its graph, the
// parameters in the order in which they are used, and the cost.
type builder struct {
	nodes   []onnx.Node
	params  Params
	outputs []onnx.Value
	macs    int
}

func build(a Architecture) *builder {
	b := new(builder)
	x := b.relu(b.norm(b.conv(planes.InputName, "stem.conv", planes.Channels, a.Channels, 3), "stem.norm", a.Channels), "stem.relu")
	for i := range a.Blocks {
		name := fmt.Sprintf("block%d", i)
		squeezed := i >= a.Blocks-a.SEBlocks
		if a.Kind == Mobile {
			x = b.mobile(x, name, a, a.Expansion+i*a.ExpansionStep, squeezed)
		} else {
			x = b.residual(x, name, a, squeezed)
		}
	}
	b.policy(x, a)
	b.value(x, a)
	return b
}

func (b *builder) residual(x, name string, a Architecture, squeezed bool) string {
	y := b.norm(b.conv(x, name+".conv1", a.Channels, a.Channels, 3), name+".norm1", a.Channels)
	y = b.relu(y, name+".relu1")
	y = b.norm(b.conv(y, name+".conv2", a.Channels, a.Channels, 3), name+".norm2", a.Channels)
	if squeezed {
		y = b.squeezeExcite(y, name+".gate", a)
	}
	return b.relu(b.node("Add", name+".add", []string{y, x}), name+".relu2")
}

func (b *builder) mobile(x, name string, a Architecture, width int, squeezed bool) string {
	if squeezed {
		x = b.squeezeExcite(x, name+".gate", a)
	}
	y := b.norm(b.conv(x, name+".expand", a.Channels, width, 1), name+".norm1", width)
	y = b.relu(y, name+".relu1")
	y = b.norm(b.depthwise(y, name+".depthwise", width), name+".norm2", width)
	y = b.relu(y, name+".relu2")
	y = b.norm(b.conv(y, name+".reduce", width, a.Channels, 1), name+".norm3", a.Channels)
	return b.node("Add", name+".add", []string{y, x})
}

// squeezeExcite adds squeeze and excitation; its dense layers are 1×1 convolutions
// of one square, which needs no reshaping.
func (b *builder) squeezeExcite(x, name string, a Architecture) string {
	narrow := a.Channels / a.SERatio
	y := b.node("GlobalAveragePool", name+".mean", []string{x})
	y = b.relu(b.square(y, name+".squeeze", a.Channels, narrow), name+".relu")
	y = b.node("Sigmoid", name+".sigmoid", []string{b.square(y, name+".excite", narrow, a.Channels)})
	return b.node("Mul", name+".mul", []string{x, y})
}

func (b *builder) policy(x string, a Architecture) {
	y := b.norm(b.conv(x, "policy.conv1", a.Channels, a.Channels, a.PolicyKernel), "policy.norm", a.Channels)
	y = b.relu(y, "policy.relu")
	y = b.conv(y, "policy.conv2", a.Channels, planes.PolicyPlanes, a.PolicyKernel)
	b.params[len(b.params)-1].last = true
	b.node("Flatten", planes.PolicyName, []string{y}, onnx.IntAttribute("axis", 1))
	b.output(planes.PolicyName, planes.PolicySize)
}

func (b *builder) value(x string, a Architecture) {
	y := b.norm(b.conv(x, "value.conv", a.Channels, a.ValueChannels, 1), "value.norm", a.ValueChannels)
	y = b.node("Flatten", "value.flat", []string{b.relu(y, "value.relu1")}, onnx.IntAttribute("axis", 1))
	width := squares * a.ValueChannels
	if a.ValueHidden > 0 {
		y = b.relu(b.dense(y, "value.hidden", width, a.ValueHidden), "value.relu2")
		width = a.ValueHidden
	}
	if a.WDL {
		b.node("Softmax", planes.WDLName, []string{b.lastDense(y, "wdl", width, 3)}, onnx.IntAttribute("axis", 1))
		b.node("MatMul", planes.ValueName, []string{planes.WDLName, results})
	} else {
		b.node("Tanh", planes.ValueName, []string{b.lastDense(y, "value.out", width, 1)})
	}
	b.output(planes.ValueName, 1)
	if a.WDL {
		b.output(planes.WDLName, 3)
	}
	if a.PliesLeft {
		b.node("Sigmoid", planes.PliesLeftName, []string{b.lastDense(y, "plies", width, 1)})
		b.output(planes.PliesLeftName, 1)
	}
}

// results names the constant that makes a value of probabilities.
const results = "results"

func resultsTensor() onnx.Tensor {
	return onnx.Tensor{Name: results, Type: onnx.Float, Dims: []int{3, 1}, Floats: []float32{-1, 0, 1}}
}

// node adds a node with one output of the same name.
func (b *builder) node(op, name string, in []string, attributes ...onnx.Attribute) string {
	b.nodes = append(b.nodes, onnx.Node{Name: name, Op: op, Inputs: in, Outputs: []string{name}, Attributes: attributes})
	return name
}

func (b *builder) output(name string, width int) {
	b.outputs = append(b.outputs, onnx.Value{Name: name, Type: onnx.Float, Shape: []onnx.Dim{batch, {Size: width}}})
}

var batch = onnx.Dim{Size: onnx.Any, Name: "batch"}

// param adds a parameter and returns its name. fanIn is the number of inputs of
// one output.
func (b *builder) param(name string, role Role, fanIn int, dims ...int) string {
	b.params = append(b.params, Param{Name: name, Role: role, Dims: dims, fanIn: fanIn})
	return name
}

func (b *builder) relu(x, name string) string { return b.node("Relu", name, []string{x}) }

// convolution adds a Conv, with every attribute that has a default, as not every
// reader knows them.
func (b *builder) convolution(in []string, name string, kernel, group int) string {
	k, pad := int64(kernel), int64(kernel/2)
	return b.node("Conv", name, in, onnx.IntsAttribute("dilations", 1, 1), onnx.IntAttribute("group", int64(group)),
		onnx.IntsAttribute("kernel_shape", k, k), onnx.IntsAttribute("pads", pad, pad, pad, pad), onnx.IntsAttribute("strides", 1, 1))
}

func (b *builder) conv(x, name string, in, out, kernel int) string {
	fanIn := in * kernel * kernel
	b.macs += squares * out * fanIn
	w := b.param(name+".weight", Weight, fanIn, out, in, kernel, kernel)
	return b.convolution([]string{x, w}, name, kernel, 1)
}

func (b *builder) depthwise(x, name string, channels int) string {
	b.macs += squares * channels * 9
	w := b.param(name+".weight", Weight, 9, channels, 1, 3, 3)
	return b.convolution([]string{x, w}, name, 3, channels)
}

// square is a dense layer with bias on [N, in, 1, 1].
func (b *builder) square(x, name string, in, out int) string {
	b.macs += in * out
	w := b.param(name+".weight", Weight, in, out, in, 1, 1)
	return b.convolution([]string{x, w, b.param(name+".bias", Bias, in, out)}, name, 1, 1)
}

func (b *builder) norm(x, name string, channels int) string {
	in := []string{x}
	for _, role := range []Role{Scale, Bias, Mean, Variance} {
		in = append(in, b.param(name+"."+string(role), role, 1, channels))
	}
	return b.node("BatchNormalization", name, in, onnx.FloatAttribute("epsilon", Epsilon), onnx.FloatAttribute("momentum", 0.9))
}

// dense is MatMul and Add: some readers compute Gemm of one row wrongly.
func (b *builder) dense(x, name string, in, out int) string {
	b.macs += in * out
	w := b.param(name+".weight", Weight, in, in, out)
	y := b.node("MatMul", name+".matmul", []string{x, w})
	return b.node("Add", name, []string{y, b.param(name+".bias", Bias, in, out)})
}

// lastDense is a dense layer that an output shows, with small first weights.
func (b *builder) lastDense(x, name string, in, out int) string {
	y := b.dense(x, name, in, out)
	b.params[len(b.params)-2].last = true
	return y
}
