package replay

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/internal/durable"
)

const (
	segmentMagic   = "ZHRS"
	segmentVersion = 1
	segmentExt     = ".seg"

	headerBytes = 24
	nameBytes   = 14 // of the header, for the variant's name

	frameBytes = 12        // in front of each game
	maxRecord  = 1<<16 - 1 // bytes of a game, a seal around it included

	// maxSegment bounds what is read into memory at once.
	maxSegment = 1 << 30
)

var (
	marker     = []byte{0xF0, 0x9E, 0x5A, 0xC3}
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

// errHeader says that the first bytes of a segment are damaged.
var errHeader = errors.New("damaged segment header")

// segmentName returns the file name of segment number n.
func segmentName(n uint64) string { return fmt.Sprintf("%08d%s", n, segmentExt) }

// listSegments returns the numbers of the segments in dir in rising order.
func listSegments(dir string) ([]uint64, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var numbers []uint64
	for _, e := range entries {
		stem, ok := strings.CutSuffix(e.Name(), segmentExt)
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(stem, 10, 64)
		if err != nil || segmentName(n) != e.Name() {
			return nil, fmt.Errorf("%w: file %s: want a name such as %s", ErrSegment, e.Name(), segmentName(1))
		}
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	return numbers, nil
}

// Contents reports whether dir holds segments and a manifest, of which a buffer
// without games has the manifest alone.
func Contents(dir string) (segments, manifest bool) {
	paths, _ := durable.Glob(dir, "*"+segmentExt)
	_, err := os.Stat(filepath.Join(dir, manifestFile))
	return len(paths) > 0, err == nil
}

// readSegment returns the content of segment n of dir.
func readSegment(dir string, n uint64) ([]byte, error) {
	path := filepath.Join(dir, segmentName(n))
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxSegment {
		return nil, fmt.Errorf("%w: %s has %d bytes, expected at most %d", ErrSegment, segmentName(n), info.Size(), maxSegment)
	}
	return os.ReadFile(path)
}

// VisitRecords calls visit with every whole record in the content of a segment, in order,
// as it is encoded; the bytes are part of the content. Damaged stretches are left out.
func VisitRecords(segment []byte, visit func(encoded []byte)) {
	scan(segment, func(r record) { visit(r.game) }, func(_, _ int64) {})
}

// IsSegment reports whether name is that of a segment's file.
func IsSegment(name string) bool { return filepath.Ext(name) == segmentExt }

// appendSegmentHeader appends the first bytes of a segment.
func appendSegmentHeader(dst []byte, v *chess.Variant) []byte {
	at := len(dst)
	dst = append(dst, segmentMagic...)
	dst = append(dst, segmentVersion, byte(len(v.Name)))
	dst = append(dst, v.Name...)
	dst = append(dst, make([]byte, nameBytes-len(v.Name))...)
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[at:], castagnoli))
}

// segmentVariant reads the header of a segment. The error wraps errHeader if
// it is damaged or cut short, ErrVersion or ErrVariant if it is whole and says
// something unknown.
func segmentVariant(data []byte) (*chess.Variant, error) {
	if len(data) < headerBytes {
		return nil, fmt.Errorf("%w: %d bytes, expected %d", errHeader, len(data), headerBytes)
	}
	h, sum := data[:headerBytes-4], binary.LittleEndian.Uint32(data[headerBytes-4:])
	if string(h[:4]) != segmentMagic {
		return nil, fmt.Errorf("%w: magic %q, expected %q", errHeader, h[:4], segmentMagic)
	}
	if found := crc32.Checksum(h, castagnoli); found != sum {
		return nil, fmt.Errorf("%w: checksum %08x, its bytes give %08x", errHeader, sum, found)
	}
	if h[4] != segmentVersion {
		return nil, fmt.Errorf("%w: found %d, expected %d", ErrVersion, h[4], segmentVersion)
	}
	name := string(h[6:][:min(int(h[5]), nameBytes)])
	v, err := chess.ParseVariant(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrVariant, err)
	}
	return v, nil
}

// appendFrame appends the record of one game, of 1 to 65535 bytes.
func appendFrame(dst, game []byte, trainable int) []byte {
	dst = append(dst, marker...)
	at := len(dst)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(len(game)))
	dst = binary.LittleEndian.AppendUint16(dst, uint16(trainable))
	sum := frameSum(dst[at:], game)
	dst = binary.LittleEndian.AppendUint32(dst, sum)
	return append(dst, game...)
}

// frameSum is the checksum of a record with the given length and ply fields.
func frameSum(fields, game []byte) uint32 {
	return crc32.Update(crc32.Checksum(fields, castagnoli), castagnoli, game)
}

// record is one game in a segment.
type record struct {
	offset    int64  // of its frame in the segment
	trainable int    // plies that may be trained on
	game      []byte // part of the data it was parsed from
}

func (r *record) end() int64 { return r.offset + frameBytes + int64(len(r.game)) }

// parseFrame returns the record at the beginning of data, if a whole one is
// there.
func parseFrame(data []byte) (r record, ok bool) {
	if len(data) < frameBytes || !bytes.HasPrefix(data, marker) {
		return record{}, false
	}
	n := int(binary.LittleEndian.Uint16(data[4:]))
	if n == 0 || len(data) < frameBytes+n {
		return record{}, false
	}
	game := data[frameBytes : frameBytes+n]
	if frameSum(data[4:8], game) != binary.LittleEndian.Uint32(data[8:]) {
		return record{}, false
	}
	return record{trainable: int(binary.LittleEndian.Uint16(data[6:])), game: game}, true
}

// scan calls visit for every whole record of a segment and damaged for every
// stretch between two of them that is none. What follows the last whole
// record is not reported: it begins at the returned offset, which is the
// length of data if nothing does.
func scan(data []byte, visit func(record), damaged func(offset, bytes int64)) (end int64) {
	return scanFrom(data, min(headerBytes, len(data)), visit, damaged)
}

// scanFrom is scan from an offset of data on.
func scanFrom(data []byte, at int, visit func(record), damaged func(offset, bytes int64)) (end int64) {
	for at < len(data) {
		next := nextFrame(data, at)
		if next < 0 {
			return int64(at)
		}
		if next > at {
			damaged(int64(at), int64(next-at))
		}
		r, _ := parseFrame(data[next:])
		r.offset = int64(next)
		visit(r)
		at = int(r.end())
	}
	return int64(at)
}

// nextFrame returns where the first whole record at or after at begins, −1
// if there is none.
func nextFrame(data []byte, at int) int {
	for at < len(data) {
		i := bytes.Index(data[at:], marker)
		if i < 0 {
			return -1
		}
		at += i
		if _, ok := parseFrame(data[at:]); ok {
			return at
		}
		at++
	}
	return -1
}
