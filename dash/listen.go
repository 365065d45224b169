package dash

import (
	"errors"
	"fmt"
	"net"
	"sync"
)

// ErrAddress says that an address to listen on cannot be read.
var ErrAddress = errors.New("bad address for the page")

const mostConnections = 128

// Listen listens for browsers. An address without host is of this machine alone:
// ":8080" is 127.0.0.1:8080. To serve others it has to name an address of this machine,
// or 0.0.0.0 for all of them. Port 0 takes a free one.
func Listen(address string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("%w: found %q, expected host:port, e.g. 127.0.0.1:8080", ErrAddress, address)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, fmt.Errorf("listen for browsers: %w", err)
	}
	return &bounded{Listener: l, room: make(chan struct{}, mostConnections)}, nil
}

// Loopback reports whether only this machine can reach a listener.
func Loopback(l net.Listener) bool {
	a, ok := l.Addr().(*net.TCPAddr)
	return ok && a.IP.IsLoopback()
}

// bounded closes connections at once that come while it has too many.
type bounded struct {
	net.Listener
	room chan struct{}
}

func (l *bounded) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		select {
		case l.room <- struct{}{}:
			return &counted{Conn: c, leave: sync.OnceFunc(func() { <-l.room })}, nil
		default:
			c.Close()
		}
	}
}

type counted struct {
	net.Conn
	leave func()
}

func (c *counted) Close() error {
	defer c.leave()
	return c.Conn.Close()
}
