package plain_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/sample/bin"
	"github.com/crazyhouse-rl/selfplay/sample/plain"
)

// benchConvert converts data, which open reads, again and again.
func benchConvert(b *testing.B, data []byte, open func(io.Reader) sample.Reader, w sample.Writer) {
	b.Helper()
	var s sample.Sample
	records := 0
	in := bytes.NewReader(nil)
	b.ReportAllocs()
	for b.Loop() {
		in.Reset(data)
		r := open(in)
		for {
			err := r.Read(&s)
			if err == io.EOF {
				break
			}
			if err == nil {
				err = w.Write(&s)
			}
			if err != nil {
				b.Fatal(err)
			}
			records++
		}
	}
	b.ReportMetric(float64(records)/b.Elapsed().Seconds()/1e6, "Mpos/s")
}

func BenchmarkPlainToBin(b *testing.B) {
	data := bytes.Repeat(readFile(b, "crazyhouse.plain"), 20)
	benchConvert(b, data, func(r io.Reader) sample.Reader { return plain.NewReader(r, chess.Crazyhouse) }, bin.NewWriter(io.Discard, bin.Bits512))
}

func BenchmarkBinToPlain(b *testing.B) {
	data := bytes.Repeat(readFile(b, "crazyhouse.bin"), 20)
	benchConvert(b, data, func(r io.Reader) sample.Reader { return bin.NewReader(r, chess.Crazyhouse, bin.Bits512) }, plain.NewWriter(io.Discard))
}
