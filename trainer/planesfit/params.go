package planesfit

import (
	"github.com/crazyhouse-rl/selfplay/planes/arch"
)

// span is a part of a slice.
type span struct{ from, to int }

func (s span) of(x []float32) []float32 { return x[s.from:s.to] }

// part is where the trained numbers of a tensor lie.
type part struct {
	span
	decays bool // by weight decay
}

// params are the numbers of a net in one slice: first those that gradients train,
// then the running means and variances.
type params struct {
	tensors arch.Params // their data lie in all
	spans   map[string]span
	all     []float32
	trained int    // numbers that gradients train
	parts   []part // those of each tensor among them
}

// newParams takes over the numbers of tensors.
func newParams(tensors arch.Params) *params {
	p := &params{tensors: tensors, spans: map[string]span{}}
	for _, trained := range []bool{true, false} {
		for i := range tensors {
			t := &tensors[i]
			if t.Role.Trained() != trained {
				continue
			}
			s := span{len(p.all), len(p.all) + len(t.Data)}
			p.all = append(p.all, t.Data...)
			p.spans[t.Name] = s
			if trained {
				p.parts = append(p.parts, part{s, t.Role == arch.Weight})
			}
		}
		if trained {
			p.trained = len(p.all)
		}
	}
	for i := range tensors {
		tensors[i].Data = p.spans[tensors[i].Name].of(p.all)
	}
	return p
}

// running returns the running means and variances.
func (p *params) running() []float32 { return p.all[p.trained:] }

// with returns the tensors with other numbers in the order of all.
func (p *params) with(all []float32) arch.Params {
	tensors := make(arch.Params, len(p.tensors))
	for i, t := range p.tensors {
		t.Data = p.spans[t.Name].of(all)
		tensors[i] = t
	}
	return tensors
}
