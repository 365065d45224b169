package selfplay

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/internal/durable"
	"github.com/crazyhouse-rl/selfplay/nets"
)

const (
	// publishedService is the service by which the trainer says whether a net is one
	// of the run's, those that are long removed too.
	publishedService = "trainer.published"

	publishedFile   = "published.json" // in a trainer's directory
	publishedSchema = 1

	// publishedPrefix keeps the signature of an answer from being valid for anything
	// else that is signed with the run's key.
	publishedPrefix = "selfplay published net\n"
)

// netList are the ids of the nets that a run's trainer has signed. A net is in the
// file before others can know of it.
type netList struct {
	path string

	mu   sync.Mutex
	list netListFormat
}

// netListFormat is the content of the file.
type netListFormat struct {
	Schema int      `json:"schema"`
	Whole  bool     `json:"whole"` // there are no others
	Nets   []string `json:"nets"`  // oldest first
}

// openNetList reads the file at path. If there is none, the list is whole if the run
// has no nets yet.
func openNetList(path string, none bool) (*netList, error) {
	p := &netList{path: path, list: netListFormat{Schema: publishedSchema, Whole: none}}
	err := durable.ReadObject(path, "remove it, and the list goes on with the nets to come; a copy of before the newest net would refuse its games", &p.list)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return nil, err
	}
	if p.list.Schema != publishedSchema {
		return nil, fmt.Errorf("%s: found schema %d, expected %d", path, p.list.Schema, publishedSchema)
	}
	return p, nil
}

// change changes the list on disk, and then in memory.
func (p *netList) change(change func(*netListFormat)) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	next := p.list
	change(&next)
	text, err := json.Marshal(next)
	if err != nil {
		return err
	}
	if err := durable.WriteSummed(p.path, append(text, '\n')); err != nil {
		return err
	}
	p.list = next
	return nil
}

// add adds a net, unless it is there.
func (p *netList) add(id string) error {
	if known, _ := p.has(id); known {
		return nil
	}
	return p.change(func(f *netListFormat) { f.Nets = append(f.Nets, id) })
}

// found adds a net that this list lacks although the run has it: another trainer's, so
// that there may be more.
func (p *netList) found(id string) error {
	if known, _ := p.has(id); known {
		return nil
	}
	return p.change(func(f *netListFormat) { f.Nets, f.Whole = append(f.Nets, id), false })
}

// has reports whether a net is in the list, and whether the list is whole.
func (p *netList) has(id string) (known, whole bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Contains(p.list.Nets, id), p.list.Whole
}

// publishedRequest asks whether a net is one of the run's.
type publishedRequest struct {
	Schema int    `json:"schema"`
	Net    string `json:"net"`
	Nonce  string `json:"nonce"` // of the asker, for an answer that is not an older one
}

func (q *publishedRequest) check() error {
	if len(q.Net) > 128 || len(q.Nonce) > 128 {
		return fmt.Errorf("found a net of %d bytes and a nonce of %d, expected at most 128", len(q.Net), len(q.Nonce))
	}
	return checkSchema(q.Schema)
}

// publishedReply answers, signed with the run's key, since anyone can answer on a bus.
type publishedReply struct {
	Schema    int    `json:"schema"`
	Run       string `json:"run"` // id
	Net       string `json:"net"`
	Nonce     string `json:"nonce"`
	Published bool   `json:"published"`
	Whole     bool   `json:"whole"`     // if it is not, a net that is not known may have been published
	Signature string `json:"signature"` // Ed25519 over publishedPrefix and the reply as it is sent but with "" here, in hex
}

func (a *publishedReply) check() error { return checkSchema(a.Schema) }

// sign writes the reply with its signature.
func (a *publishedReply) sign(key ed25519.PrivateKey) []byte {
	a.Signature = ""
	a.Signature = hex.EncodeToString(ed25519.Sign(key, append([]byte(publishedPrefix), encodeMessage(a)...)))
	return encodeMessage(a)
}

// verify reports whether the reply that came as text is signed. It is the text that
// counts: a later build may say more than this one can write again.
func (a *publishedReply) verify(text []byte, key ed25519.PublicKey) bool {
	signature, err := hex.DecodeString(a.Signature)
	field := fmt.Appendf(nil, `"signature":"%s"`, a.Signature)
	if err != nil || bytes.Count(text, field) != 1 {
		return false
	}
	signed := bytes.Replace(text, field, []byte(`"signature":""`), 1)
	return ed25519.Verify(key, append([]byte(publishedPrefix), signed...), signature)
}

// answer answers an encoded publishedRequest.
func (p *netList) answer(run string, key ed25519.PrivateKey, request []byte) ([]byte, error) {
	var q publishedRequest
	if err := decodeMessage(request, &q); err != nil {
		return nil, err
	}
	a := publishedReply{Schema: messageSchema, Run: run, Net: q.Net, Nonce: q.Nonce}
	a.Published, a.Whole = p.has(q.Net)
	return a.sign(key), nil
}

// netPlace says where a net that a game names is.
type netPlace int

const (
	netUnsure  netPlace = iota // nobody can say now
	netAtHand                  // on the bus or in the store, signed
	netGone                    // published once, and removed
	netForeign                 // never published
)

// findNet says where the net with the given id is.
func (r *Run) findNet(ctx context.Context, id string) netPlace {
	if id == r.firstNet().ID {
		return netAtHand
	}
	m, err := r.store.Manifest(id)
	if errors.Is(err, nets.ErrID) { // not what any net is called
		return netForeign
	}
	if err == nil && r.store.Has(id) && r.checkManifest(m) == nil {
		return netAtHand
	}
	m, err = r.bus.NetManifest(ctx, id)
	if err == nil && r.checkManifest(m) == nil {
		return netAtHand
	}
	if err != nil && !errors.Is(err, bus.ErrNoNet) && !errors.Is(err, nets.ErrManifest) && !errors.Is(err, nets.ErrTooLarge) {
		return netUnsure
	}
	place, err := r.askPublished(ctx, id)
	if err != nil && ctx.Err() == nil {
		r.log.Debug("the trainer does not say whether a net is the run's", "net", id, "error", err)
	}
	return place
}

// askPublished asks the trainer for a net that is not at hand.
func (r *Run) askPublished(ctx context.Context, id string) (netPlace, error) {
	nonce := rand.Text()
	answer, err := r.bus.Ask(ctx, publishedService, encodeMessage(&publishedRequest{Schema: messageSchema, Net: id, Nonce: nonce}))
	if err != nil {
		return netUnsure, err
	}
	return readPublished(answer, r.id(), id, nonce, r.public)
}

// readPublished reads the answer to a publishedRequest of a run.
func readPublished(answer []byte, run, id, nonce string, key ed25519.PublicKey) (netPlace, error) {
	var a publishedReply
	if err := decodeMessage(answer, &a); err != nil {
		return netUnsure, err
	}
	switch {
	case !a.verify(answer, key):
		return netUnsure, fmt.Errorf("%w: an answer about net %.12s is not signed by the run's trainer", nets.ErrSignature, id)
	case a.Run != run || a.Net != id || a.Nonce != nonce:
		return netUnsure, fmt.Errorf("%w: the answer to another question", errMessage)
	case a.Published:
		return netGone, nil
	case a.Whole:
		return netForeign, nil
	}
	return netUnsure, nil
}
