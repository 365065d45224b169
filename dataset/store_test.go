package dataset

import (
	"reflect"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/sample"
)

// TestStoreKeepsAll: a sample comes back from a store as it was, each of its fields at a
// value that nothing else has, whatever stood in the place it comes to.
func TestStoreKeepsAll(t *testing.T) {
	p, err := chess.ParseFEN(chess.Crazyhouse, "r2q1rk1/ppp2pp1/1bnpbn1p/4p3/2B1P3/2NP1N1P/PPP2PP1/R1BQ1RK1[QPPnbrr] b - - 5 10")
	if err != nil {
		t.Fatal(err)
	}
	full := sample.Sample{Pos: p}
	v := reflect.ValueOf(&full).Elem()
	for i := range v.NumField() {
		switch f := v.Field(i); f.Kind() {
		case reflect.Bool:
			f.SetBool(true)
		case reflect.Uint8, reflect.Uint16:
			f.SetUint(uint64(101 + i))
		case reflect.Int8, reflect.Int:
			f.SetInt(int64(-101 - i))
		case reflect.Pointer:
			f.Set(reflect.New(f.Type().Elem()))
		case reflect.Struct:
		default:
			t.Fatalf("%s: this test does not know how to set a %s", v.Type().Field(i).Name, f.Kind())
		}
	}
	list := []sample.Sample{full, {Pos: chess.Chess.Start()}, {Pos: p, Score: sample.NoScore}, {Pos: p, Score: sample.MinScore}, {}}
	var s store
	for range 2*storeChunk/len(list) + 1 {
		for i := range list {
			s.add(&list[i])
		}
	}
	for i := range s.n {
		got := full
		if s.get(i, &got); got != list[i%len(list)] {
			t.Fatalf("sample %d: found %+v, expected %+v", i, got, list[i%len(list)])
		}
	}
}
