package binpack

import (
	"bytes"
	"io"
	"testing"

	"github.com/crazyhouse-rl/selfplay/sample"
)

// benchmarks run over whole games and over samples with gaps, as they are in the
// first and the second part of the fixture.
var benchmarks = []struct {
	name     string
	from, to int
}{{"games", 0, 1200}, {"gaps", 1200, 1600}}

func BenchmarkRead(b *testing.B) {
	samples := plainFixture(b)
	for _, part := range benchmarks {
		b.Run(part.name, func(b *testing.B) {
			file := bytes.Repeat(encodeAll(b, samples[part.from:part.to]), 100)
			b.SetBytes(int64(len(file) / (100 * (part.to - part.from))))
			b.ReportAllocs()
			var s sample.Sample
			r := NewReader(bytes.NewReader(file))
			for b.Loop() {
				if err := r.Read(&s); err == io.EOF {
					r = NewReader(bytes.NewReader(file))
				} else if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "positions/s")
		})
	}
}

func BenchmarkWrite(b *testing.B) {
	samples := plainFixture(b)
	for _, part := range benchmarks {
		b.Run(part.name, func(b *testing.B) {
			in := samples[part.from:part.to]
			b.ReportAllocs()
			w := NewWriter(io.Discard)
			i := 0
			for b.Loop() {
				if err := w.Write(&in[i]); err != nil {
					b.Fatal(err)
				}
				if i++; i == len(in) {
					i = 0
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "positions/s")
		})
	}
}
