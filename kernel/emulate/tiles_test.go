//go:build linux && amd64

package main

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"testing"
)

// text returns an instruction as its kernels' generator writes it.
func text(c code) string {
	registers := []string{"AX", "CX", "DX", "BX", "SP", "BP", "SI", "DI", "R8", "R9", "R10", "R11", "R12", "R13", "R14", "R15"}
	switch {
	case c.opcode == 0x49 && c.prefix == 0 && c.memory:
		return fmt.Sprintf("LDTILECFG (%s)", registers[c.base])
	case c.opcode == 0x49 && c.prefix == 0:
		return "TILERELEASE"
	case c.opcode == 0x49 && c.prefix == 3:
		return fmt.Sprintf("TILEZERO tmm%d", c.reg)
	case c.opcode == 0x4b && c.prefix == 3:
		return fmt.Sprintf("TILELOADD (%s)(%s*1), tmm%d", registers[c.base], registers[c.index], c.reg)
	case c.opcode == 0x4b && c.prefix == 2:
		return fmt.Sprintf("TILESTORED (%s)(%s*1), tmm%d", registers[c.base], registers[c.index], c.reg)
	case c.opcode == 0x5e && c.prefix == 1:
		return fmt.Sprintf("TDPBUSD tmm%d, tmm%d, tmm%d", c.source, c.rm, c.reg)
	}
	return "unknown"
}

// TestDecode has the bytes of GNU's assembler.
func TestDecode(t *testing.T) {
	for _, c := range []struct {
		bytes [longest]byte
		want  string
		size  int
	}{
		{[longest]byte{0xc4, 0x82, 0x7b, 0x4b, 0x24, 0x02}, "TILELOADD (R10)(R8*1), tmm4", 6},
		{[longest]byte{0xc4, 0xa2, 0x7b, 0x4b, 0x3c, 0x0a}, "TILELOADD (DX)(R9*1), tmm7", 6},
		{[longest]byte{0xc4, 0x82, 0x7a, 0x4b, 0x1c, 0x0a}, "TILESTORED (R10)(R9*1), tmm3", 6},
		{[longest]byte{0xc4, 0xe2, 0x7a, 0x4b, 0x04, 0x33}, "TILESTORED (BX)(SI*1), tmm0", 6},
		{[longest]byte{0xc4, 0xe2, 0x7b, 0x49, 0xd0}, "TILEZERO tmm2", 5},
		{[longest]byte{0xc4, 0xe2, 0x49, 0x5e, 0xc4}, "TDPBUSD tmm6, tmm4, tmm0", 5},
		{[longest]byte{0xc4, 0xe2, 0x41, 0x5e, 0xdd}, "TDPBUSD tmm7, tmm5, tmm3", 5},
		{[longest]byte{0xc4, 0xc2, 0x78, 0x49, 0x02}, "LDTILECFG (R10)", 5},
		{[longest]byte{0xc4, 0xe2, 0x78, 0x49, 0x00}, "LDTILECFG (AX)", 5},
		{[longest]byte{0xc4, 0xe2, 0x78, 0x49, 0xc0}, "TILERELEASE", 5},
	} {
		got, ok := decode(&c.bytes)
		if !ok || text(got) != c.want || got.bytes != c.size {
			t.Errorf("% x: found %s of %d bytes, %v, expected %s of %d", c.bytes, text(got), got.bytes, ok, c.want, c.size)
		}
	}
	if c, ok := decode(&[longest]byte{0xc5, 0xf8, 0x77}); ok { // VZEROUPPER
		t.Errorf("found %+v, expected no instruction of AMX", c)
	}
}

// TestKernels reads the instructions of package kernel: their bytes must be what the
// comment beside them says.
func TestKernels(t *testing.T) {
	assembly, err := os.ReadFile("../conv_amd64.s")
	if err != nil {
		t.Fatal(err)
	}
	lines := regexp.MustCompile(`(?m)^\t((?:BYTE \$0x\w\w(?:; )?)+) // (.*)$`).FindAllSubmatch(assembly, -1)
	if len(lines) == 0 {
		t.Fatal("found no instructions")
	}
	for _, line := range lines {
		var bytes [longest]byte
		all := regexp.MustCompile(`0x\w\w`).FindAll(line[1], -1)
		for i, b := range all {
			n, err := strconv.ParseUint(string(b), 0, 8)
			if err != nil {
				t.Fatal(err)
			}
			bytes[i] = byte(n)
		}
		got, ok := decode(&bytes)
		if !ok || text(got) != string(line[2]) || got.bytes != len(all) {
			t.Errorf("%s: found %s of %d bytes, expected %s of %d", line[1], text(got), got.bytes, line[2], len(all))
		}
	}
}

// TestAddProducts refuses tiles that do not fit and adds to what there is.
func TestAddProducts(t *testing.T) {
	tiles := &tiles{rows: [8]int{2, 2, 3}, rowBytes: [8]int{8, 12, 8}}
	const sums, x, y = 0, 1, 2
	for i := range 3 {
		for j := range 12 {
			tiles.tile[x][i][j] = byte(200 + i*12 + j)
			tiles.tile[y][i][j] = byte(-100 + i*12 + j)
		}
	}
	tiles.tile[sums][1][4] = 7
	if !tiles.addProducts(sums, x, y) {
		t.Fatal("refused")
	}
	want := int32(7)
	for k := range 12 {
		want += int32(byte(212+k)) * int32(int8(-100+k/4*12+4+k%4))
	}
	if got := int32(uint32(tiles.tile[sums][1][4]) | uint32(tiles.tile[sums][1][5])<<8 | uint32(tiles.tile[sums][1][6])<<16 | uint32(tiles.tile[sums][1][7])<<24); got != want {
		t.Errorf("found %d, expected %d", got, want)
	}
	tiles.rows[y] = 2
	if tiles.addProducts(sums, x, y) {
		t.Error("found products of 12 bytes and 2 groups of four, expected a refusal")
	}
}
