package main

import (
	"debug/elf"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// assembler is GNU's for arm64, of the package binutils-aarch64-linux-gnu.
const assembler = "aarch64-linux-gnu-as"

// TestWords assembles the text beside every word, which must give the word.
func TestWords(t *testing.T) {
	if _, err := exec.LookPath(assembler); err != nil {
		t.Skip(err)
	}
	var texts []string
	var words []uint32
	known := map[string]bool{}
	for name, write := range sets {
		f := newFile(name)
		write(f)
		for _, m := range regexp.MustCompile(`WORD   \$0x(\w+) // (.*)`).FindAllStringSubmatch(f.asm.String(), -1) {
			word, err := strconv.ParseUint(m[1], 16, 32)
			if err != nil {
				t.Fatal(err)
			}
			if !known[m[0]] {
				known[m[0]] = true
				texts, words = append(texts, m[2]), append(words, uint32(word))
			}
		}
	}
	if len(words) == 0 {
		t.Fatal("no words in the assembly")
	}
	for i, want := range assemble(t, texts) {
		if words[i] != want {
			t.Errorf("%s: found word %#08x, expected %#08x", texts[i], words[i], want)
		}
	}
}

func assemble(t *testing.T, texts []string) []uint32 {
	t.Helper()
	source, object := filepath.Join(t.TempDir(), "words.s"), filepath.Join(t.TempDir(), "words.o")
	if err := os.WriteFile(source, []byte(strings.Join(texts, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(assembler, "-march=armv8.2-a+dotprod", "-o", object, source).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	f, err := elf.Open(object)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	code, err := f.Section(".text").Data()
	if err != nil {
		t.Fatal(err)
	}
	if len(code) != 4*len(texts) {
		t.Fatalf("found %d bytes of code, expected 4 for each of %d instructions", len(code), len(texts))
	}
	words := make([]uint32, len(texts))
	for i := range words {
		words[i] = binary.LittleEndian.Uint32(code[4*i:])
	}
	return words
}
