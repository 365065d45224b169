package nets

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ErrRecord says that a record is malformed.
var ErrRecord = errors.New("nets: bad record")

const (
	// RecordSchema is the version of the record this package writes.
	RecordSchema = 1

	// MaxSpread is the longest time over which a net's fetching is spread, in seconds.
	MaxSpread = 3600

	maxRecordBytes = 8 << 10
	maxBy          = 256     // bytes
	maxWhy         = 1 << 10 // bytes
)

// What a Record says was done.
const (
	Publish  = "publish"  // the net passed the gate, or was offered while there is none
	Promote  = "promote"  // a person chose the net
	Rollback = "rollback" // a person went back to the net
	Withdraw = "withdraw" // the net after it could not be used, so this one is back
)

// Record is the value of a pointer to the net that a run plays with: which net, and
// who chose it and why. Texts are UTF-8 without control characters.
type Record struct {
	Schema     int    `json:"schema"`     // RecordSchema; 0: the bare id of a net, as earlier builds write it
	Net        string `json:"net"`        // id; empty in a Rollback or Withdraw to the time before the first net
	Generation int    `json:"generation"` // of the net; 0 if there is none, or none is known
	Action     string `json:"action"`     // Publish, Promote, Rollback or Withdraw
	By         string `json:"by"`         // user@host or a role, at most 256 bytes
	Why        string `json:"why"`        // at most 1 KiB
	From       string `json:"from"`       // id of the net before; empty: none
	Spread     int    `json:"spread_s"`   // seconds over which those who play spread their fetching of the net, 0 to 3600
}

// back reports whether the record goes back to an older net, which those who play refuse
// in a record that publishes one.
func (r Record) back() bool { return r.Action == Rollback || r.Action == Withdraw }

// Validate reports what is wrong with a record. Its error wraps ErrRecord and names
// the key.
func (r Record) Validate() error {
	wrong := func(key string, found any, expected string) error {
		return fmt.Errorf("%w: %s: found %v, expected %s", ErrRecord, key, found, expected)
	}
	switch {
	case r.Schema == 0 && r != Record{Net: r.Net, Action: Publish}:
		return wrong("schema", r.Schema, fmt.Sprintf("%d in a record that says more than a net's id", RecordSchema))
	case r.Schema != 0 && r.Schema != RecordSchema:
		return wrong("schema", r.Schema, fmt.Sprint(RecordSchema))
	case r.Action != Publish && r.Action != Promote && !r.back():
		return wrong("action", fmt.Sprintf("%.80q", r.Action), strings.Join([]string{Publish, Promote, Rollback, Withdraw}, ", "))
	case r.Net == "" && !r.back():
		return wrong("net", "nothing", "an id in a record of action "+r.Action)
	case r.Net == "" && r.Generation != 0, r.Generation < 0:
		return wrong("generation", r.Generation, "0 without a net, else 0 or more")
	case r.Spread < 0 || r.Spread > MaxSpread:
		return wrong("spread_s", r.Spread, fmt.Sprintf("0 to %d", MaxSpread))
	}
	for key, id := range map[string]string{"net": r.Net, "from": r.From} {
		if err := checkID(id); id != "" && err != nil {
			return fmt.Errorf("%w: %s: %w", ErrRecord, key, err)
		}
	}
	if err := checkLine("by", r.By, maxBy); err != nil {
		return err
	}
	return checkLine("why", r.Why, maxWhy)
}

// checkLine accepts a text that a terminal may show.
func checkLine(key, text string, most int) error {
	if len(text) > most || !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
		return fmt.Errorf("%w: %s: found %.80q of %d bytes, expected UTF-8 of at most %d without control characters", ErrRecord, key, text, len(text), most)
	}
	return nil
}

// String returns the value of the pointer: JSON, or of Schema 0 the id alone.
// ParseRecord reads it back if the record is valid.
func (r Record) String() string {
	if r.Schema == 0 {
		return r.Net
	}
	b, err := json.Marshal(r)
	if err != nil { // texts and numbers only: cannot happen
		panic(err)
	}
	return string(b)
}

// ParseRecord reads the value of a pointer to a net: what String wrote, or the bare id
// of a net. Keys that it does not know are left out: a later build may write them, and
// what matters, the net, is signed in its manifest. The error wraps ErrRecord.
func ParseRecord(value string) (Record, error) {
	if checkID(value) == nil {
		return Record{Net: value, Action: Publish}, nil
	}
	if len(value) > maxRecordBytes {
		return Record{}, fmt.Errorf("%w: found %d bytes, expected at most %d", ErrRecord, len(value), maxRecordBytes)
	}
	// The schema comes first: in a later one the keys known here may mean something else.
	var head struct {
		Schema int `json:"schema"`
	}
	if err := json.Unmarshal([]byte(value), &head); err != nil {
		return Record{}, fmt.Errorf("%w: found %.80q, expected the id of a net or an object: %w", ErrRecord, value, err)
	}
	if head.Schema != RecordSchema {
		return Record{}, fmt.Errorf("%w: schema: found %d, expected %d", ErrRecord, head.Schema, RecordSchema)
	}
	var r Record
	if err := json.Unmarshal([]byte(value), &r); err != nil {
		return Record{}, fmt.Errorf("%w: %w", ErrRecord, err)
	}
	if err := r.Validate(); err != nil {
		return Record{}, err
	}
	return r, nil
}
