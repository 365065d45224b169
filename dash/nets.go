package dash

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/selfplay"
)

const (
	mostNets    = 400 // in the list, the newest
	mostNetDirs = 20_000
)

// Nets are the nets of a run, offered or on disk.
type Nets struct {
	Current string `json:"current"` // id of the one that is played with; empty: none yet
	// Newest says what the newest net on disk is; nil: there is none.
	Newest *About `json:"newest"`
	// List has the newest nets first.
	List  []NetLine `json:"list"`
	Total int       `json:"total"` // nets ever offered
	// Width is how many neurons of the net that is played with can be drawn; 0: none.
	Width int `json:"width"`
}

// About is what all nets of a run have in common, as the manifest of one says it.
type About struct {
	Kind         string `json:"kind"`
	Features     string `json:"features"`
	Architecture string `json:"architecture"`
	Size         int64  `json:"size"` // bytes of the file
	Seed         uint64 `json:"seed"`
	Build        string `json:"build"`
}

// NetLine is a net of the list.
type NetLine struct {
	selfplay.OfferedNet
	OnDisk  bool    `json:"on_disk"`
	Samples uint64  `json:"samples"` // positions trained on, repeats counted; 0: not on disk
	Verdict string  `json:"verdict"` // "passed", "failed" or "" if it was not judged
	Over    string  `json:"over"`    // id of the net it was played against
	Elo     string  `json:"elo"`
	Reason  string  `json:"reason"`
	Seconds float64 `json:"seconds"` // from the offer to the verdict; 0: not known
	Ungated bool    `json:"ungated"` // it was played with, and no gate has judged it
}

// netList joins the events of the nets with their manifests.
func (w *Watch) netList() (Nets, error) {
	manifests, err := w.servers.manifests, error(nil)
	if !w.onServers() {
		manifests, err = readManifests(w.path("nets"))
	}
	out := Nets{List: []NetLine{}, Total: len(w.events.curve.Offered)}
	if r, ok := w.current(); ok {
		out.Current = r.Net
	}
	judged := map[string]selfplay.JudgedNet{}
	for _, j := range w.events.curve.Judged {
		judged[j.Net] = j
	}
	offered := w.events.curve.Offered
	for _, o := range slices.Backward(offered[max(0, len(offered)-mostNets):]) {
		line := NetLine{OfferedNet: o}
		if w.servers.passed[o.Net] {
			line.Verdict = verdictText(true)
		}
		if m, ok := manifests[o.Net]; ok {
			line.OnDisk, line.Samples = true, m.Samples
		}
		if j, ok := judged[o.Net]; ok {
			line.Verdict, line.Over, line.Elo, line.Reason = verdictText(j.Passed), j.Incumbent, j.Elo, j.Reason
			if !line.Time.IsZero() {
				line.Seconds = max(0, j.Time.Sub(line.Time).Round(time.Millisecond).Seconds())
			}
		} else {
			line.Ungated = w.events.published[o.Net] || w.servers.ungated[o.Net]
		}
		out.List = append(out.List, line)
	}
	newest := nets.Manifest{}
	for _, m := range manifests {
		if m.Generation > newest.Generation {
			newest = m
		}
	}
	if newest.Generation > 0 {
		out.Newest = &About{newest.Kind, newest.Features, newest.Architecture, newest.Size, newest.Seed, newest.Build}
	}
	return out, err
}

// readManifests reads the manifests of a store of nets. One that cannot be read is left
// out, and named by the error.
func readManifests(dir string) (map[string]nets.Manifest, error) {
	f, err := os.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(mostNetDirs)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	slices.SortFunc(names, cmp.Compare[string])
	out := map[string]nets.Manifest{}
	var wrong error
	for _, name := range names {
		id, ok := strings.CutSuffix(name, ".json")
		if !ok || strings.HasPrefix(name, ".") {
			continue
		}
		data, err := readSmall(dir + string(os.PathSeparator) + name)
		if errors.Is(err, fs.ErrNotExist) { // pruned since
			continue
		}
		var m nets.Manifest
		if err == nil {
			m, err = nets.ParseManifest(data)
		}
		if err != nil {
			wrong = fmt.Errorf("manifest of net %s: %w", shortID(id), err)
			continue
		}
		out[m.ID] = m
	}
	return out, wrong
}
