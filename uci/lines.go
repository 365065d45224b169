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
}

func newLineReader(r io.Reader) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, 4096)}
}

// next returns the next line without its end ("\n" or "\r\n") and without
// surrounding white space. A last line may lack its end. A line that is too
// long is read to its end and reported as errLineTooLong; reading may go on.
// The end of the stream is io.EOF.
func (l *lineReader) next() (string, error) {
	l.buf = l.buf[:0]
	long := false
	for {
		part, err := l.r.ReadSlice('\n')
		if long = long || len(l.buf)+len(part) > maxLine; !long {
			l.buf = append(l.buf, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case long:
			return "", errLineTooLong
		case err != nil && (len(l.buf) == 0 || !errors.Is(err, io.EOF)):
			return "", err
		}
		return strings.TrimSpace(string(l.buf)), nil
	}
}
