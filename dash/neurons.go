package dash

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/nnue/netstat"
)

// neuron draws what a neuron of the net that the run plays with looks for, as
// selfplay net inspect --draw does.
func (s *Server) neuron(w http.ResponseWriter, r *http.Request) {
	var o opponent
	var v *chess.Variant
	s.watch.look(func(time.Time) { o, v = s.watch.opponent(), s.watch.variant() })
	if o.id == "" {
		refuse(w, http.StatusNotFound, "the run plays with no net that is known here")
		return
	}
	leave, err := s.searches.enter()
	if err != nil {
		refuseAsked(w, err)
		return
	}
	defer leave()
	n, err := s.searches.read(o, v)
	if err != nil {
		refuseAsked(w, err)
		return
	}
	if n.NNUE == nil {
		refuse(w, http.StatusNotFound, "only NNUE nets have neurons that can be drawn")
		return
	}
	width := n.NNUE.Architecture().Width
	i, err := strconv.Atoi(r.PathValue("neuron"))
	if err != nil || i < 0 || i >= width {
		refuse(w, http.StatusNotFound, fmt.Sprintf("found neuron %.20q, expected 0 to %d", r.PathValue("neuron"), width-1))
		return
	}
	picture, err := netstat.NewDrawer(n.NNUE, chess.NoSquare).Neuron(i).SVG()
	if err != nil {
		refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	w.Header().Set("Content-Type", "image/svg+xml")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(picture) // a client that has gone needs no answer
}
