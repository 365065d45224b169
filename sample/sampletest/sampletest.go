// Package sampletest reads whole files of samples for tests.
package sampletest

import (
	"errors"
	"io"
	"testing"

	"github.com/crazyhouse-rl/selfplay/sample"
)

// Read returns the samples of r up to the end or the first error.
func Read(r sample.Reader) ([]sample.Sample, error) {
	var all []sample.Sample
	for {
		var s sample.Sample
		if err := r.Read(&s); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return all, err
		}
		all = append(all, s)
	}
}

// ReadAll returns the samples of r. The test fails if one cannot be read.
func ReadAll(t testing.TB, r sample.Reader) []sample.Sample {
	t.Helper()
	all, err := Read(r)
	if err != nil {
		t.Fatal(err)
	}
	return all
}
