package memory

import (
	"runtime"
	"testing"
	"unsafe"
)

// Hints leave the memory as it is, and take any address and size.
func TestHintsChangeNothing(t *testing.T) {
	data := make([]byte, 5<<20)
	for i := range data {
		data[i] = byte(i)
	}
	for _, r := range []struct{ from, size int }{{0, len(data)}, {1, len(data) - 1}, {4095, 4097}, {5000, 100}, {0, 0}} {
		LargePages(unsafe.Pointer(&data[r.from]), uintptr(r.size))
	}
	for i := range data {
		Prefetch(unsafe.Pointer(&data[i]))
		if data[i] != byte(i) {
			t.Fatalf("byte %d: found %d, expected %d", i, data[i], byte(i))
		}
	}
	Prefetch(nil)
}

func TestTotal(t *testing.T) {
	if total := Total(); runtime.GOOS == "linux" && (total < 64<<20 || total > 1<<50) {
		t.Errorf("found %d bytes", total)
	}
}
