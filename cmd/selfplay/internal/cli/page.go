package cli

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/crazyhouse-rl/selfplay/dash"
)

// Page is where the page of a run is served.
type Page struct {
	listener net.Listener
	name     string // host that was asked for
}

// OpenPage listens for browsers on an address, as dash.Listen takes it.
func OpenPage(address string) (*Page, error) {
	l, err := dash.Listen(address)
	if errors.Is(err, dash.ErrAddress) {
		err = fmt.Errorf("%w: %w", ErrUsage, err)
	}
	if err != nil {
		return nil, err
	}
	name, _, _ := net.SplitHostPort(address) // Listen has read it
	return &Page{l, name}, nil
}

// String says where the page is.
func (p *Page) String() string {
	text := "watch the run at http://" + p.listener.Addr().String()
	if !dash.Loopback(p.listener) {
		text += " (open to all who reach this address: there is no password)"
	}
	return text
}

// Serve answers browsers until ctx ends.
func (p *Page) Serve(ctx context.Context, w *dash.Watch) error {
	return dash.NewServer(w).Serve(ctx, p.listener, p.name)
}

// Close stops listening, if nothing is served any more or yet. A nil page is closed.
func (p *Page) Close() {
	if p != nil {
		_ = p.listener.Close() // Serve has closed it before
	}
}
