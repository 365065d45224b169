package engine

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// MaxLine bounds one line of a protocol in bytes, in both directions. A game
// of ten thousand moves needs about 50 KiB.
const MaxLine = 1 << 20

// ErrLineTooLong reports a line of more than MaxLine bytes.
var ErrLineTooLong = fmt.Errorf("line of more than %d bytes", MaxLine)

// LineReader splits a stream into lines without ever holding more than
// MaxLine bytes of one.
type LineReader struct {
	r   *bufio.Reader
	buf []byte
	// skip is set while the rest of a line that was too long is still to be
	// read.
	skip bool
}

// NewLineReader returns a LineReader of r.
func NewLineReader(r io.Reader) *LineReader {
	return &LineReader{r: bufio.NewReaderSize(r, 4096)}
}

// Next returns the next line without its end ("\n" or "\r\n") and without
// surrounding white space. A last line may lack its end. A line that is too
// long is reported as ErrLineTooLong as soon as it is, and the next call goes on
// after it. The end of the stream is io.EOF.
func (l *LineReader) Next() (string, error) {
	l.buf = l.buf[:0]
	for {
		part, err := l.r.ReadSlice('\n')
		ended := !errors.Is(err, bufio.ErrBufferFull)
		switch {
		case l.skip:
			l.skip = !ended
			if err == nil || !ended {
				continue
			}
			return "", err
		case len(l.buf)+len(part) > MaxLine:
			l.skip = !ended
			return "", ErrLineTooLong
		}
		l.buf = append(l.buf, part...)
		switch {
		case !ended:
			continue
		case err != nil && (len(l.buf) == 0 || !errors.Is(err, io.EOF)):
			return "", err
		}
		return strings.TrimSpace(string(l.buf)), nil
	}
}
