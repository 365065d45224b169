package arch

import (
	"math"
	"math/rand/v2"
)

// Role is what a parameter is for.
type Role string

// Roles of parameters. Scale, Bias, Mean and Variance of a batch normalisation
// have one number for each channel.
const (
	Weight   Role = "weight"
	Bias     Role = "bias"
	Scale    Role = "scale"
	Mean     Role = "mean"     // running mean: not trained by gradients
	Variance Role = "variance" // running variance: the same
)

// Trained reports whether gradients change parameters of the role.
func (r Role) Trained() bool { return r != Mean && r != Variance }

// Param is a tensor of parameters, the last dimension varying fastest.
// Convolutions have dimensions [out, in, k, k], depthwise ones [channels, 1, 3,
// 3], dense layers [in, out], all others one.
type Param struct {
	Name string // as in the ONNX model, for example "block0.conv1.weight"
	Role Role
	Dims []int
	Data []float32

	fanIn int  // inputs of one output
	last  bool // of a layer that an output shows
}

// Len returns the number of parameters in the tensor.
func (p *Param) Len() int {
	n := 1
	for _, d := range p.Dims {
		n *= d
	}
	return n
}

// Params are the parameters of a net, in the order in which its graph uses them.
type Params []Param

// Data returns the numbers of the tensor of that name, nil if there is none.
// Writing them changes the parameters.
func (p Params) Data(name string) []float32 {
	for i := range p {
		if p[i].Name == name {
			return p[i].Data
		}
	}
	return nil
}

// Zero returns the parameters of a net, all 0. The error wraps ErrArchitecture.
func (a Architecture) Zero() (Params, error) {
	if err := a.Check(); err != nil {
		return nil, err
	}
	p := build(a).params
	for i := range p {
		p[i].Data = make([]float32, p[i].Len())
	}
	return p, nil
}

// lastGain makes the first weights of layers that outputs show smaller than
// those of others: an untrained net calls moves and results nearly equally likely.
const lastGain = 0.1

// New returns first parameters of a net. Weights are normal with a variance of 2
// / inputs (He et al. 2015), those of the last layers with lastGain² / inputs;
// normalisations do nothing; biases are 0. Equal states of rng give equal
// parameters. The error wraps ErrArchitecture.
func (a Architecture) New(rng *rand.Rand) (Params, error) {
	p, err := a.Zero()
	if err != nil {
		return nil, err
	}
	for i := range p {
		switch p[i].Role {
		case Weight:
			deviation := math.Sqrt(2 / float64(p[i].fanIn))
			if p[i].last {
				deviation = lastGain / math.Sqrt(float64(p[i].fanIn))
			}
			for j := range p[i].Data {
				p[i].Data[j] = float32(rng.NormFloat64() * deviation)
			}
		case Scale, Variance:
			for j := range p[i].Data {
				p[i].Data[j] = 1
			}
		}
	}
	return p, nil
}

// Count returns how many parameters gradients train.
func (a Architecture) Count() int {
	n := 0
	for _, p := range build(a).params {
		if p.Role.Trained() {
			n += p.Len()
		}
	}
	return n
}

// MACs returns how many multiplications with additions the convolutions and
// dense layers of a net need for one position.
func (a Architecture) MACs() int { return build(a).macs }
