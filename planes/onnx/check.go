package onnx

import "fmt"

// Check reports whether the parts of a model fit together: names are given
// before they are used, and once; tensors have as many elements as their
// dimensions say. It knows no operators.
func (m *Model) Check() error {
	if m.IRVersion < 1 {
		return fmt.Errorf("%w: found version %d of the format, expected 1 or more", ErrFormat, m.IRVersion)
	}
	domains := make(map[string]bool)
	for _, s := range m.Opsets {
		if s.Version < 1 || domains[s.Domain] {
			return fmt.Errorf("%w: found version %d of operator set %q, expected one version of each", ErrFormat, s.Version, s.Domain)
		}
		domains[s.Domain] = true
	}
	if !domains[""] {
		return fmt.Errorf("%w: found no version of the operator set", ErrFormat)
	}
	keys := make(map[string]bool)
	for _, p := range m.Metadata {
		if keys[p.Key] {
			return fmt.Errorf("%w: found metadata %q twice", ErrFormat, p.Key)
		}
		keys[p.Key] = true
	}
	return m.Graph.check(domains)
}

func (g *Graph) check(domains map[string]bool) error {
	made := make(map[string]bool, len(g.Inputs)+len(g.Initializers)+len(g.Nodes))
	give := func(name, by string) error {
		if name == "" || made[name] {
			return fmt.Errorf("%w: %s: found the name %q, expected one that is not empty nor given before", ErrFormat, by, name)
		}
		made[name] = true
		return nil
	}
	for _, v := range g.Inputs {
		if err := give(v.Name, "input"); err != nil {
			return err
		}
	}
	for i := range g.Initializers {
		t := &g.Initializers[i]
		if err := give(t.Name, "initializer"); err != nil {
			return err
		}
		if err := t.check(); err != nil {
			return err
		}
	}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if err := n.check(domains); err != nil {
			return err
		}
		for _, name := range n.Inputs {
			if name != "" && !made[name] {
				return fmt.Errorf("%w: %s: found input %q, which nothing before it makes", ErrFormat, n, name)
			}
		}
		for _, name := range n.Outputs {
			if name == "" {
				continue
			}
			if err := give(name, n.String()); err != nil {
				return err
			}
		}
	}
	return g.checkOutputs(made)
}

func (g *Graph) checkOutputs(made map[string]bool) error {
	if len(g.Outputs) == 0 {
		return fmt.Errorf("%w: found no outputs", ErrFormat)
	}
	seen := make(map[string]bool)
	for _, v := range g.Outputs {
		if !made[v.Name] || seen[v.Name] {
			return fmt.Errorf("%w: found output %q, expected values that the graph makes, each once", ErrFormat, v.Name)
		}
		seen[v.Name] = true
	}
	return nil
}

func (n *Node) check(domains map[string]bool) error {
	if n.Op == "" {
		return fmt.Errorf("%w: %s: found no operator", ErrFormat, n)
	}
	if !domains[n.Domain] {
		return fmt.Errorf("%w: %s: found operator set %q, of which the model gives no version", ErrFormat, n, n.Domain)
	}
	seen := make(map[string]bool)
	for i := range n.Attributes {
		a := &n.Attributes[i]
		if a.Name == "" || seen[a.Name] {
			return fmt.Errorf("%w: %s: found attribute %q, expected names that are not empty and differ", ErrFormat, n, a.Name)
		}
		seen[a.Name] = true
		if err := a.check(); err != nil {
			return fmt.Errorf("%s: attribute %s: %w", n, a.Name, err)
		}
	}
	return nil
}

func (a *Attribute) check() error {
	switch a.Type {
	case AttributeFloat, AttributeInt, AttributeString, AttributeFloats, AttributeInts, AttributeStrings:
		return nil
	case AttributeTensor:
		if a.Tensor == nil {
			return fmt.Errorf("%w: found no tensor", ErrFormat)
		}
		return a.Tensor.check()
	}
	return fmt.Errorf("%w: a value of type %v", ErrUnsupported, a.Type)
}
