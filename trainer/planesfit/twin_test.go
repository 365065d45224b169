package planesfit

import (
	"fmt"
	"math"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/internal/logistic"
	"github.com/crazyhouse-rl/selfplay/planes"
	"github.com/crazyhouse-rl/selfplay/planes/arch"
	"github.com/crazyhouse-rl/selfplay/sample"
)

// twin computes a net in float64 from its parameters by name, as the package
// comment of arch states it: images [n][channel][square], nothing fused.
type twin struct {
	a        arch.Architecture
	tensors  map[string][]float64
	training bool
}

func newTwin(m *Model) *twin {
	t := &twin{m.net.arch, map[string][]float64{}, true}
	for _, p := range m.net.params.tensors {
		for _, x := range p.Data {
			t.tensors[p.Name] = append(t.tensors[p.Name], float64(x))
		}
	}
	return t
}

type image [][]float64 // [channel][square]

func (t *twin) data(name string) []float64 {
	d, ok := t.tensors[name]
	if !ok {
		panic("no tensor " + name)
	}
	return d
}

func newImage(channels int) image {
	m := make(image, channels)
	for c := range m {
		m[c] = make([]float64, 64)
	}
	return m
}

// each makes one image of each.
func each(x []image, f func(m image) image) []image {
	y := make([]image, len(x))
	for i := range x {
		y[i] = f(x[i])
	}
	return y
}

func (t *twin) conv(x []image, name string, out, size int, depthwise bool) []image {
	w, half := t.data(name+".weight"), size/2
	return each(x, func(m image) image {
		y := newImage(out)
		in := len(m)
		if depthwise {
			in = 1
		}
		for o := range y {
			for i := range in {
				from := m[i]
				if depthwise {
					from = m[o]
				}
				for k := range size * size {
					weight := w[(o*in+i)*size*size+k]
					for s := range 64 {
						row, column := s/8+k/size-half, s%8+k%size-half
						if row >= 0 && row < 8 && column >= 0 && column < 8 {
							y[o][s] += weight * from[row*8+column]
						}
					}
				}
			}
		}
		return y
	})
}

func (t *twin) norm(x []image, name string) []image {
	scale, bias := t.data(name+".scale"), t.data(name+".bias")
	mean, variance := t.data(name+".mean"), t.data(name+".variance")
	y := each(x, func(m image) image { return newImage(len(m)) })
	for c := range x[0] {
		mu, v := mean[c], variance[c]
		if t.training {
			mu, v = 0, 0
			for _, m := range x {
				for _, e := range m[c] {
					mu += e / float64(64*len(x))
				}
			}
			for _, m := range x {
				for _, e := range m[c] {
					v += (e - mu) * (e - mu) / float64(64*len(x))
				}
			}
		}
		for i, m := range x {
			for s, e := range m[c] {
				y[i][c][s] = (e-mu)/math.Sqrt(v+arch.Epsilon)*scale[c] + bias[c]
			}
		}
	}
	return y
}

func pointwise(x []image, f func(v float64) float64) []image {
	return each(x, func(m image) image {
		y := newImage(len(m))
		for c := range m {
			for s, v := range m[c] {
				y[c][s] = f(v)
			}
		}
		return y
	})
}

func relu(v float64) float64 { return max(v, 0) }

func plus(x, y []image) []image {
	z := pointwise(x, func(v float64) float64 { return v })
	for i := range y {
		for c := range y[i] {
			for s, v := range y[i][c] {
				z[i][c][s] += v
			}
		}
	}
	return z
}

// layer is a dense layer; weights lie [in, out], or [out, in].
func (t *twin) layer(x []float64, name string, out int, byOutput bool) []float64 {
	w, b, y := t.data(name+".weight"), t.data(name+".bias"), make([]float64, out)
	for o := range y {
		y[o] = b[o]
		for i, v := range x {
			at := i*out + o
			if byOutput {
				at = o*len(x) + i
			}
			y[o] += v * w[at]
		}
	}
	return y
}

func (t *twin) squeezeExcite(x []image, name string) []image {
	return each(x, func(m image) image {
		means, y := make([]float64, len(m)), newImage(len(m))
		for c := range m {
			for _, v := range m[c] {
				means[c] += v / 64
			}
		}
		hidden := t.layer(means, name+".squeeze", len(m)/t.a.SERatio, true)
		for i := range hidden {
			hidden[i] = relu(hidden[i])
		}
		for c, z := range t.layer(hidden, name+".excite", len(m), true) {
			for s, v := range m[c] {
				y[c][s] = v * logistic.Sigmoid(z)
			}
		}
		return y
	})
}

func (t *twin) trunk(x []image) []image {
	c := t.a.Channels
	x = pointwise(t.norm(t.conv(x, "stem.conv", c, 3, false), "stem.norm"), relu)
	for i := range t.a.Blocks {
		name, squeezed := fmt.Sprintf("block%d", i), i >= t.a.Blocks-t.a.SEBlocks
		if t.a.Kind == arch.Mobile {
			wide := t.a.Expansion + i*t.a.ExpansionStep
			if squeezed {
				x = t.squeezeExcite(x, name+".gate")
			}
			y := pointwise(t.norm(t.conv(x, name+".expand", wide, 1, false), name+".norm1"), relu)
			y = pointwise(t.norm(t.conv(y, name+".depthwise", wide, 3, true), name+".norm2"), relu)
			x = plus(t.norm(t.conv(y, name+".reduce", c, 1, false), name+".norm3"), x)
			continue
		}
		y := pointwise(t.norm(t.conv(x, name+".conv1", c, 3, false), name+".norm1"), relu)
		y = t.norm(t.conv(y, name+".conv2", c, 3, false), name+".norm2")
		if squeezed {
			y = t.squeezeExcite(y, name+".gate")
		}
		x = pointwise(plus(y, x), relu)
	}
	return x
}

// answers are the outputs for one position, value before tanh and the others before
// their activations.
type answers struct {
	policy            []float64 // by cell
	value, wdl, plies []float64
}

func (t *twin) outputs(x []image) []answers {
	x = t.trunk(x)
	y := pointwise(t.norm(t.conv(x, "policy.conv1", t.a.Channels, t.a.PolicyKernel, false), "policy.norm"), relu)
	logits := t.conv(y, "policy.conv2", planes.PolicyPlanes, t.a.PolicyKernel, false)
	v := pointwise(t.norm(t.conv(x, "value.conv", t.a.ValueChannels, 1, false), "value.norm"), relu)
	all := make([]answers, len(x))
	for i := range x {
		var flat []float64
		for _, plane := range logits[i] {
			all[i].policy = append(all[i].policy, plane...)
		}
		for _, plane := range v[i] {
			flat = append(flat, plane...)
		}
		if t.a.ValueHidden > 0 {
			flat = t.layer(flat, "value.hidden", t.a.ValueHidden, false)
			for k := range flat {
				flat[k] = relu(flat[k])
			}
		}
		if t.a.WDL {
			all[i].wdl = t.layer(flat, "wdl", 3, false)
		} else {
			all[i].value = t.layer(flat, "value.out", 1, false)
		}
		if t.a.PliesLeft {
			all[i].plies = t.layer(flat, "plies", 1, false)
		}
	}
	return all
}

func softmax(x []float64) []float64 {
	y, sum := make([]float64, len(x)), 0.0
	for i, v := range x {
		y[i] = math.Exp(v)
		sum += y[i]
	}
	for i := range y {
		y[i] /= sum
	}
	return y
}

// loss is the mean loss of samples, in parts as the model cuts them.
func (t *twin) loss(samples []sample.Sample, cfg Config, lambda float64) float64 {
	parts := (len(samples) + cfg.Part - 1) / cfg.Part
	mean := 0.0
	for _, s := range samples {
		if s.Policy != nil {
			mean += float64(s.Policy.Surprise) / float64(len(samples))
		}
	}
	sum := 0.0
	for k := range parts {
		part := samples[len(samples)*k/parts : len(samples)*(k+1)/parts]
		var x []image
		for i := range part {
			x = append(x, encoded(&part[i]))
		}
		for i, a := range t.outputs(x) {
			s, weight := &part[i], 1.0
			if mean > 0 {
				weight = 1 - cfg.SurpriseShare
				if s.Policy != nil {
					weight += cfg.SurpriseShare * float64(s.Policy.Surprise) / mean
				}
			}
			sum += weight * positionLoss(&a, s, cfg, lambda)
		}
	}
	return sum / float64(len(samples))
}

func encoded(s *sample.Sample) image {
	var flat [planes.Size]float32
	planes.Encode(flat[:], &s.Pos, int(s.Repetitions))
	m := newImage(planes.Channels)
	for i, v := range flat {
		m[i/64][i%64] = float64(v)
	}
	return m
}

func positionLoss(a *answers, s *sample.Sample, cfg Config, lambda float64) float64 {
	loss := 0.0
	var moves chess.MoveList
	s.Pos.Legal(&moves)
	var logits, wanted []float64
	total := 0.0
	for _, m := range moves.Moves[:moves.N] {
		logits = append(logits, a.policy[planes.Cell(&s.Pos, m)])
		w := 0.0
		switch {
		case s.Policy != nil:
			for _, p := range s.Policy.Moves {
				if p.Move == m {
					w = float64(p.Weight)
				}
			}
		case m == s.Move && !s.Partial:
			w = 1
		}
		wanted = append(wanted, w)
		total += w
	}
	if total > 0 {
		for i, q := range softmax(logits) {
			loss -= cfg.PolicyWeight * wanted[i] / total * math.Log(q)
		}
	}
	win := logistic.Sigmoid(float64(s.Score) * 2.08 / cfg.ScoreScale)
	target := []float64{lambda * (1 - win), 0, lambda * win}
	target[s.Result+1] += 1 - lambda
	if a.wdl != nil {
		for i, q := range softmax(a.wdl) {
			loss -= cfg.ValueWeight * target[i] * math.Log(q)
		}
	} else {
		loss += cfg.ValueWeight * math.Pow(math.Tanh(a.value[0])-target[2]+target[0], 2)
	}
	if a.plies != nil && s.PliesLeft > 0 {
		loss += cfg.PliesWeight * math.Pow(logistic.Sigmoid(a.plies[0])-math.Min(1, float64(s.PliesLeft)/100), 2)
	}
	return loss
}
