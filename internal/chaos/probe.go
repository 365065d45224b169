//go:build linux

package chaos

import (
	"fmt"
	"net/http"
	"time"
)

const (
	probeEvery = 10 * time.Second
	probeFails = 6 // in a row, before a server is started again
)

// probe kills a server that says for a minute that it serves no JetStream any more, to be
// started again, as the liveness probe of the manifests that init cluster writes does: a
// server whose disk was full turns that off and does not turn it on again when there is room.
// One that does not answer, as while it is suspended, is left alone.
func (c *cluster) probe(n *node, port int) {
	client := http.Client{Timeout: time.Second}
	for failed := 0; ; {
		select {
		case <-c.done:
			return
		case <-time.After(probeEvery):
		}
		if !disabled(client, port) {
			failed = 0
			continue
		}
		if failed++; failed < probeFails {
			continue
		}
		c.opt.Log.Info("serves no JetStream, started again", "process", n.name)
		failed = 0
		n.mu.Lock()
		n.kill()
		n.probed++
		n.mu.Unlock()
	}
}

// disabled reports whether the server answers that it serves no JetStream.
func disabled(client http.Client, port int) bool {
	a, err := client.Get(fmt.Sprintf("http://127.0.0.1:%d/healthz?js-enabled-only=true", port))
	if err != nil {
		return false
	}
	a.Body.Close()
	return a.StatusCode != http.StatusOK
}
