//go:build linux

package chaos

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// wire is a link between two processes: a port on which the one connects to the other.
type wire struct {
	name     string
	to       string // address
	messages bool   // a client's, whose messages can be told apart
	listener net.Listener

	cut                         atomic.Int32 // faults of each kind at hand
	late, twice, shuffled, bent atomic.Int32

	mu    sync.Mutex
	conns map[net.Conn]struct{}
	rng   *rand.Rand // of which messages; what is in them depends on the run anyway
}

const (
	lateBy = 300 * time.Millisecond // of a delayed piece, at most
	oneIn  = 8                      // messages that are bent, doubled or shuffled
)

func newWire(name, to string, messages bool, port int) (*wire, error) {
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return nil, err
	}
	w := &wire{name: name, to: to, messages: messages, listener: l, conns: map[net.Conn]struct{}{}, rng: rand.New(rand.NewPCG(1, uint64(port)))}
	go w.serve()
	return w, nil
}

func (w *wire) serve() {
	for {
		in, err := w.listener.Accept()
		if err != nil {
			return // closed
		}
		go w.connect(in)
	}
}

func (w *wire) connect(in net.Conn) {
	defer in.Close()
	if w.cut.Load() > 0 {
		return
	}
	defer w.keep(in)()
	out, err := net.Dial("tcp", w.to)
	if err != nil {
		return
	}
	defer out.Close()
	defer w.keep(out)()
	done := make(chan struct{}, 2)
	for _, pair := range [][2]net.Conn{{in, out}, {out, in}} {
		go func() {
			_ = w.carry(pair[1], pair[0]) // ends with the connection
			done <- struct{}{}
		}()
	}
	<-done
}

// keep notes a connection that close has to close, until it is over.
func (w *wire) keep(c net.Conn) (over func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conns[c] = struct{}{}
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.conns, c)
	}
}

// begin and end change how many faults of a kind there are.
func (w *wire) begin(k Kind) { w.change(k, 1) }
func (w *wire) end(k Kind)   { w.change(k, -1) }

func (w *wire) change(k Kind, by int32) {
	switch k {
	case Cut:
		w.cut.Add(by)
	case Delay:
		w.late.Add(by)
	case Duplicate:
		w.twice.Add(by)
	case Reorder:
		w.shuffled.Add(by)
	case Corrupt:
		w.bent.Add(by)
	}
}

func (w *wire) chance(n int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rng.IntN(n) == 0
}

// carry carries one direction until the connection ends. While the link is cut nothing
// moves, and neither side learns of it, as when the network between them is gone.
func (w *wire) carry(to io.Writer, from io.Reader) error {
	if !w.messages {
		return w.carryBytes(to, from)
	}
	r := bufio.NewReaderSize(from, 64<<10)
	var held []byte // a message that the next one overtakes
	for {
		f, err := readFrame(r)
		if err != nil {
			_, e := to.Write(append(f.line, held...))
			return errors.Join(err, e)
		}
		w.wait()
		data := f.bytes()
		if f.message() {
			if w.bent.Load() > 0 && w.chance(oneIn) {
				w.mu.Lock()
				at := len(f.line) + w.rng.IntN(len(f.payload)-2)
				data[at] ^= 1 << w.rng.IntN(8)
				w.mu.Unlock()
			}
			if w.twice.Load() > 0 && w.chance(oneIn) {
				data = append(data, data...)
			}
			if held == nil && w.shuffled.Load() > 0 && w.chance(oneIn) {
				held = data
				continue
			}
		}
		if _, err := to.Write(append(data, held...)); err != nil {
			return err
		}
		held = nil
	}
}

func (w *wire) carryBytes(to io.Writer, from io.Reader) error {
	b := make([]byte, 64<<10)
	for {
		n, err := from.Read(b)
		if n > 0 {
			w.wait()
			if _, err := to.Write(b[:n]); err != nil {
				return err
			}
		}
		if err != nil {
			return err
		}
	}
}

// wait waits while the link is cut, and a moment while it is slow.
func (w *wire) wait() {
	if w.late.Load() > 0 {
		w.mu.Lock()
		d := time.Duration(w.rng.Int64N(int64(lateBy)))
		w.mu.Unlock()
		time.Sleep(d)
	}
	for w.cut.Load() > 0 {
		time.Sleep(10 * time.Millisecond)
	}
}

func (w *wire) close() {
	w.listener.Close()
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.conns {
		c.Close()
	}
}
