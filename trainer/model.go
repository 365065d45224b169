package trainer

import (
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
	Mean   float64 // against the mixed target of the λ asked for
	Score  float64 // against the scores alone
	Result float64 // against the results alone
	// SignAccuracy is the share of decided positions whose winner the model's
	// output names.
	SignAccuracy float64
	Positions    int
	Decided      int // positions of games that were not drawn

	// Of models that learn which of two moves was played, from triples of the
	// positions before, after it and after another; else 0.
	Triples int     `json:",omitempty"` // made of the positions
	Rank    float64 `json:",omitempty"` // mean loss of the ranking alone; log 2 for a model that knows nothing
	Ranked  float64 `json:",omitempty"` // share of triples in which the move played is the better one

	// Of models that foretell moves; else 0.
	Moves        int     `json:",omitempty"` // positions whose move is known
	Policy       float64 `json:",omitempty"` // mean loss of the move alone, over these
	MoveAccuracy float64 `json:",omitempty"` // share of these whose likeliest move the model names
}

// ExportReport compares an exported net with its model.
type ExportReport struct {
	Positions       int
	MeanRaw, MaxRaw float64 // absolute difference of the values, in raw units of the net
	MeanWin, MaxWin float64 // the same as win probability, 0..1
	NetScale        float64 // win probability of a value v is σ(v/NetScale), v in raw units
	ScoreScale      float64 // the same for sample scores
}
