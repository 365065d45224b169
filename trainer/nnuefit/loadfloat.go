package nnuefit

import (
	"bytes"
	"errors"

	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/trainer"
)

// LoadFloat reads the float net of a checkpoint file, which must be of the architecture of
// n, with a factoriser or without. It returns the step of the checkpoint and whether n is
// its export, byte for byte, of training through the integer net's rounding or not. Errors
// wrap nnue.ErrArchitecture or trainer.ErrCheckpoint.
func LoadFloat(path string, n *nnue.Network) (m *Model, step uint64, exported bool, err error) {
	var failed []error
	for _, factorise := range []bool{true, false} {
		cfg := DefaultConfig()
		cfg.Factorise = factorise
		if m, err = New(n.Architecture(), cfg, 0); err != nil {
			return nil, 0, false, err
		}
		if step, err = trainer.LoadModel(path, m); err == nil {
			break
		}
		failed = append(failed, err)
	}
	if err != nil {
		return nil, 0, false, errors.Join(failed...)
	}
	// Training through the rounding rounds numbers between two integers as it did there.
	for _, quantise := range []bool{true, false} {
		m.SetQuantise(quantise)
		same, err := m.exports(n)
		if err != nil {
			return nil, 0, false, err
		}
		exported = exported || same
	}
	return m, step, exported, nil
}

// exports reports whether n is what m is rounded to.
func (m *Model) exports(n *nnue.Network) (bool, error) {
	rounded, err := m.Network()
	if err != nil {
		return false, err
	}
	rounded.Description = n.Description
	var found, expected bytes.Buffer
	err = errors.Join(n.Write(&found), rounded.Write(&expected))
	return bytes.Equal(found.Bytes(), expected.Bytes()), err
}
