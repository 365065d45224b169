package uci

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxLine bounds one line of the protocol in bytes, in both directions. A game
// of ten thousand moves needs about 50 KiB.
const maxLine = 1 << 20

// errLineTooLong reports a line of more than maxLine bytes.
var errLineTooLong = fmt.Errorf("line of more than %d bytes", maxLine)

// lineReader splits a stream into lines without ever holding more than
// maxLine bytes of one.
type lineReader struct {
	r   *bufio.Reader
	buf []byte
	// skip is set while the rest of a line that was too long is still to be
	// read.
	skip bool
}

func newLineReader(r io.Reader) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, 4096)}
}

// next returns the next line without its end ("\n" or "\r\n") and without
// surrounding white space. A last line may lack its end. A line that is too
// long is reported as errLineTooLong as soon as it is, and the next call goes on
// behind it. The end of the stream is io.EOF.
func (l *lineReader) next() (string, error) {
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
		case len(l.buf)+len(part) > maxLine:
			l.skip = !ended
			return "", errLineTooLong
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
