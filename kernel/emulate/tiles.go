//go:build linux && amd64

package main

import (
	"encoding/binary"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	maxRows     = 16
	maxRowBytes = 64
)

// tiles are the registers of AMX of a thread.
type tiles struct {
	tile     [8][maxRows][maxRowBytes]byte
	rows     [8]int // 0 before they are configured
	rowBytes [8]int
}

// code is a decoded instruction: the three-byte VEX prefix, the opcode, and what follows.
type code struct {
	prefix          byte // 0, 1, 2, 3 for none, 66, F3, F2
	opcode          byte
	reg, rm, source int // source is of vvvv
	memory, sib     bool
	base, index     int // registers of an address
	bytes           int
}

// longest is the most bytes that an instruction has.
const longest = 6

// decode reads an instruction of AMX, if it is one. Addresses have no displacement: the
// kernels use none.
func decode(b *[longest]byte) (c code, ok bool) {
	if b[0] != 0xc4 || b[1]&0x1f != 2 || b[2]&0x84 != 0 {
		return c, false
	}
	mode := b[4] >> 6
	c = code{prefix: b[2] & 3, opcode: b[3], reg: int(b[4] >> 3 & 7), rm: int(b[4] & 7), source: int(^b[2] >> 3 & 15), bytes: 5}
	if mode == 3 {
		return c, true
	}
	c.memory, c.base = true, c.rm
	if c.sib = c.rm == 4; c.sib {
		c.base, c.index = int(b[5]&7), int(b[5]>>3&7)|int(^b[1]>>6&1)<<3
		c.bytes++
	}
	if mode != 0 || c.base == 5 || c.sib && b[5]>>6 != 0 { // a displacement, no base, or an index times something
		return c, false
	}
	c.base |= int(^b[1]>>5&1) << 3
	return c, true
}

// execute does the instruction that a thread is at, and reports whether it could. What
// the processor would refuse is not done.
func (t *tiles) execute(thread int) (bool, error) {
	var r syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(thread, &r); err != nil {
		return false, err
	}
	var text [longest]byte
	if err := read(thread, r.Rip, text[:]); err != nil {
		return false, err
	}
	c, ok := decode(&text)
	if !ok {
		return false, nil
	}
	general := [16]uint64{r.Rax, r.Rcx, r.Rdx, r.Rbx, r.Rsp, r.Rbp, r.Rsi, r.Rdi, r.R8, r.R9, r.R10, r.R11, r.R12, r.R13, r.R14, r.R15}
	done, err := t.do(c, thread, general[c.base], general[c.index])
	if !done || err != nil {
		return false, err
	}
	r.Rip += uint64(c.bytes)
	return true, syscall.PtraceSetRegs(thread, &r)
}

func (t *tiles) do(c code, thread int, base, stride uint64) (bool, error) {
	switch {
	case c.opcode == 0x49 && c.prefix == 0 && !c.memory && c.reg == 0 && c.rm == 0: // TILERELEASE
		*t = tiles{}
		return true, nil
	case c.opcode == 0x49 && c.prefix == 0 && c.memory && c.reg == 0: // LDTILECFG
		var config [64]byte
		if err := read(thread, base, config[:]); err != nil {
			return false, err
		}
		return true, t.configure(config)
	case c.opcode == 0x49 && c.prefix == 3 && !c.memory && t.rows[c.reg] > 0: // TILEZERO
		t.tile[c.reg] = [maxRows][maxRowBytes]byte{}
		return true, nil
	case c.opcode == 0x4b && c.sib && (c.prefix == 2 || c.prefix == 3) && t.rows[c.reg] > 0: // TILESTORED, TILELOADD
		return true, t.move(c.reg, thread, base, stride, c.prefix == 2)
	case c.opcode == 0x5e && c.prefix == 1 && !c.memory: // TDPBUSD
		return t.addProducts(c.reg, c.rm, c.source), nil
	}
	return false, nil
}

// configure takes what LDTILECFG reads: a palette, 15 bytes that are zero here, the bytes of the
// rows of 16 tiles, and their numbers of rows.
func (t *tiles) configure(config [64]byte) error {
	*t = tiles{}
	for i := range t.tile {
		t.rowBytes[i] = int(binary.LittleEndian.Uint16(config[16+2*i:]))
		t.rows[i] = int(config[48+i])
		if t.rows[i] > maxRows || t.rowBytes[i] > maxRowBytes || config[0] != 1 || (t.rows[i] == 0) != (t.rowBytes[i] == 0) {
			return fmt.Errorf("found palette %d and tile %d of %d rows of %d bytes, which the processor refuses", config[0], i, t.rows[i], t.rowBytes[i])
		}
	}
	return nil
}

// move reads or writes a tile.
func (t *tiles) move(reg, thread int, base, stride uint64, write bool) error {
	for i := range t.rows[reg] {
		row, at := t.tile[reg][i][:t.rowBytes[reg]], base+uint64(i)*stride
		if write {
			if err := transfer(unix.ProcessVMWritev, thread, at, row); err != nil {
				return err
			}
			continue
		}
		t.tile[reg][i] = [maxRowBytes]byte{}
		if err := read(thread, at, row); err != nil {
			return err
		}
	}
	if !write {
		clear(t.tile[reg][t.rows[reg]:])
	}
	return nil
}

// addProducts does sums += x·y, of unsigned and signed bytes. It reports false for tiles
// that do not fit.
func (t *tiles) addProducts(sums, x, y int) bool {
	if y > 7 || sums == x || sums == y || x == y || t.rows[x] == 0 || t.rows[sums] != t.rows[x] || t.rowBytes[x] != 4*t.rows[y] || t.rowBytes[sums] != t.rowBytes[y] {
		return false
	}
	for i := range t.rows[sums] {
		for j := 0; j < t.rowBytes[sums]; j += 4 {
			sum := int32(binary.LittleEndian.Uint32(t.tile[sums][i][j:]))
			for k := range t.rowBytes[x] {
				sum += int32(t.tile[x][i][k]) * int32(int8(t.tile[y][k/4][j+k%4]))
			}
			binary.LittleEndian.PutUint32(t.tile[sums][i][j:], uint32(sum))
		}
	}
	return true
}

func read(thread int, at uint64, b []byte) error {
	return transfer(unix.ProcessVMReadv, thread, at, b)
}

// transfer moves bytes from or to a program's memory.
func transfer(call func(int, []unix.Iovec, []unix.RemoteIovec, uint) (int, error), thread int, at uint64, b []byte) error {
	local := []unix.Iovec{{Base: &b[0]}}
	local[0].SetLen(len(b))
	n, err := call(thread, local, []unix.RemoteIovec{{Base: uintptr(at), Len: len(b)}}, 0)
	if err == nil && n < len(b) {
		err = unix.EFAULT
	}
	if err != nil {
		return fmt.Errorf("%d bytes at %#x: %w", len(b), at, err)
	}
	return nil
}
