package trainer

import (
	"encoding/json"
	"io"
	"math/rand/v2"

	"github.com/crazyhouse-rl/selfplay/sample"
)

// Hyper is what the schedules set for one step.
type Hyper struct {
	LearningRate float64
	Lambda       float64 // share of the search score in the target, 0..1; the rest is the game's result
}

// Model is a net that learns. nnuefit.Model and planesfit.Model are such.
type Model interface {
	// Fit makes one optimiser step on batch and returns its mean loss before
	// the step. On error the model is unchanged.
	Fit(batch []sample.Sample, h Hyper) (loss float64, err error)
	// Loss measures the model on samples and changes nothing.
	Loss(samples []sample.Sample, lambda float64) (Loss, error)
	// Export writes the net in the form players load and reports how far that
	// form departs from the model on the positions of check.
	Export(w io.Writer, check []sample.Sample) (ExportReport, error)
	// Checkpoint writes the whole state, Restore replaces it. Restore reads to
	// the end of r; on error the model is unchanged.
	Checkpoint(w io.Writer) error
	Restore(r io.Reader) error
}

// Source supplies samples: the replay window, or a slice.
type Source interface {
	// Draw fills dst with samples chosen by rng from the training games.
	Draw(rng *rand.Rand, dst []sample.Sample) error
	// HeldOut fills dst from games that Draw never uses and returns the part
	// filled; the same games each time, as far as the source still has them.
	HeldOut(dst []sample.Sample) []sample.Sample
}

// Seeker is a Source whose draws depend on how many samples it has given.
type Seeker interface {
	Source
	// Seek goes to where the source is after drawn samples.
	Seek(drawn uint64) error
}

// Loss is how well a model foretells samples. Losses are means per position in
// the model's own measure; lower is better.
type Loss struct {
	Mean   float64 `json:"mean"`   // against the mixed target of the λ asked for
	Score  float64 `json:"score"`  // against the scores alone
	Result float64 `json:"result"` // against the results alone, of positions that have one; 0 if none has
	// SignAccuracy is the share of decided positions whose winner the model's
	// output names.
	SignAccuracy float64 `json:"sign_accuracy"`
	Positions    int     `json:"positions"`
	Decided      int     `json:"decided"` // positions of games that were not drawn

	// Of models that learn which of two moves was played, from triples of the
	// positions before, after it and after another; else 0.
	Triples int     `json:"triples,omitempty"` // made of the positions
	Rank    float64 `json:"rank,omitempty"`    // mean loss of the ranking alone; log 2 for a model that knows nothing
	Ranked  float64 `json:"ranked,omitempty"`  // share of triples in which the move played is the better one

	// Of models that foretell moves; else 0.
	Moves        int     `json:"moves,omitempty"`         // positions whose move is known
	Policy       float64 `json:"policy,omitempty"`        // mean loss of the move alone, over these
	MoveAccuracy float64 `json:"move_accuracy,omitempty"` // share of these whose likeliest move the model names
}

// UnmarshalJSON also reads the keys of older files, which are the fields' names.
// Package json takes no notice of case, so only those of two words are others.
func (l *Loss) UnmarshalJSON(text []byte) error {
	type plain Loss
	return json.Unmarshal(text, &struct {
		*plain
		SignAccuracy, MoveAccuracy *float64
	}{(*plain)(l), &l.SignAccuracy, &l.MoveAccuracy})
}

// ExportReport compares an exported net with its model.
type ExportReport struct {
	Positions  int     `json:"positions"`
	MeanRaw    float64 `json:"mean_raw"` // absolute difference of the values, in raw units of the net
	MaxRaw     float64 `json:"max_raw"`
	MeanWin    float64 `json:"mean_win"` // the same as win probability, 0..1
	MaxWin     float64 `json:"max_win"`
	NetScale   float64 `json:"net_scale"`   // win probability of a value v is σ(v/NetScale), v in raw units
	ScoreScale float64 `json:"score_scale"` // the same for sample scores
}

// UnmarshalJSON also reads the keys of older files, which are the fields' names.
func (r *ExportReport) UnmarshalJSON(text []byte) error {
	type plain ExportReport
	return json.Unmarshal(text, &struct {
		*plain
		MeanRaw, MaxRaw, MeanWin, MaxWin, NetScale, ScoreScale *float64
	}{(*plain)(r), &r.MeanRaw, &r.MaxRaw, &r.MeanWin, &r.MaxWin, &r.NetScale, &r.ScoreScale})
}
