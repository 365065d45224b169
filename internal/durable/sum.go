package durable

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"math/bits"
	"os"
	"regexp"
)

// ErrSum says that a file is not what was written.
var ErrSum = errors.New("damaged file")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sumKey is the key of a checksum.
const sumKey = "crc32c"

// sumMember is the last member of an object that has a checksum, with all that Sum adds, or
// what a flipped bit has made of it.
var sumMember = regexp.MustCompile(`,?[ \n\t]*"([^"]{6})": ?"([^"]{8})"(\n?}\n?)$`)

// Sum returns a JSON object with a checksum of its text as its last member:
// "crc32c": "e3069283", CRC-32C in hex of the text without that member and without a newline
// at its end. So the text stays one that people and earlier builds can read. The text has to be an object as
// encoding/json writes it, with or without a newline at its end.
func Sum(object []byte) []byte {
	sum := sumOf(object)
	end := bytes.LastIndexByte(object, '}')
	comma, space := ",", ""
	head := bytes.TrimSuffix(object[:end], []byte("\n"))
	if bytes.Equal(head, []byte("{")) {
		comma = ""
	}
	if len(head) < end { // indented as its other members are
		line := head[bytes.IndexByte(head, '\n'):]
		space = string(line[:len(line)-len(bytes.TrimLeft(line, "\n\t "))])
	}
	text := fmt.Appendf(bytes.Clone(head), `%s%s%q:`, comma, space, sumKey)
	if space != "" {
		text = append(text, ' ')
	}
	return append(fmt.Appendf(text, "%q", sum), object[len(head):]...)
}

func sumOf(object []byte) string {
	return fmt.Sprintf("%08x", crc32.Checksum(bytes.TrimSuffix(object, []byte("\n")), castagnoli))
}

// Unsum returns the text that Sum was given, which the file at path holds. The error wraps
// ErrSum if the text is not the one that was summed; it ends with the remedy, what somebody
// is to do then. A text without a checksum, as earlier builds write it, is returned as it is.
func Unsum(path string, text []byte, remedy string) ([]byte, error) {
	m := sumMember.FindSubmatch(text)
	if m == nil {
		return text, nil
	}
	member, key, expected, end := m[0], m[1], m[2], m[3]
	if distance := bitsApart(key, sumKey); distance > 1 {
		return text, nil
	} else if distance == 1 {
		return nil, fmt.Errorf("%s: %w: found the key %q, expected %s: %s", path, ErrSum, key, sumKey, remedy)
	}
	object := append(bytes.Clone(text[:len(text)-len(member)]), end...)
	if found := sumOf(object); found != string(expected) {
		return nil, fmt.Errorf("%s: %w: found checksum %s, expected %s as its key %s says: %s", path, ErrSum, found, expected, sumKey, remedy)
	}
	return object, nil
}

// bitsApart returns in how many bits two texts of equal length differ.
func bitsApart(a []byte, b string) int {
	n := 0
	for i := range a {
		n += bits.OnesCount8(a[i] ^ b[i])
	}
	return n
}

// WriteSummed replaces path with a JSON object and its checksum, as WriteFile does.
func WriteSummed(path string, object []byte) error { return WriteFile(path, Sum(object)) }

// ReadSummed returns the JSON object that WriteSummed or an earlier build's WriteFile wrote.
// Its errors are those of os.ReadFile and Unsum.
func ReadSummed(path, remedy string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Unsum(path, text, remedy)
}

// ReadObject decodes the JSON object that ReadSummed reads into to. An error names the file,
// and a damaged one ends with the remedy.
func ReadObject(path, remedy string, to any) error {
	text, err := ReadSummed(path, remedy)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, to); err != nil {
		return fmt.Errorf("%s: %w: %s", path, err, remedy)
	}
	return nil
}
