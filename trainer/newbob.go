package trainer

import "github.com/crazyhouse-rl/selfplay/internal/check"

// Newbob lowers the learning rate when the held-out loss stops falling, as the
// learner of nodchip's Stockfish of 2020 does: a net that is no new best is
// given up for the best one so far and the rate is multiplied by Decay; after
// Trials such disappointments in a row training is over.
type Newbob struct {
	Decay  float64 // between 0 and 1; 1 keeps the rate
	Trials int     // at least 1
	// KeepLatest goes on from the latest net instead of the best one, as the
	// learner of 2021 does.
	KeepLatest bool
}

// NewbobState is how far a Newbob has come. The zero value is its beginning.
type NewbobState struct {
	Begun bool    `json:"begun"`
	Best  float64 `json:"best"`  // least held-out loss so far
	Left  int     `json:"left"`  // disappointments that may follow
	Scale float64 `json:"scale"` // of the learning rate
}

// Verdict is what a Newbob says of a net.
type Verdict string

const (
	Accepted Verdict = "accepted" // the best so far
	Rejected Verdict = "rejected" // go on, from the best unless KeepLatest is set, at a lower rate
	Finished Verdict = "finished" // as Rejected, and it was the last trial
)

// Validate reports settings that cannot be followed. The error wraps ErrConfig.
func (n Newbob) Validate() error {
	wrong := check.Of(ErrConfig)
	check.Above(wrong, "newbob_decay", n.Decay, 0, 1)
	check.Positive(wrong, "newbob_trials", n.Trials)
	return wrong.Err()
}

// Judge compares a held-out loss with the best so far and updates s. The first
// loss, that of the net before training, is the first best.
func (n Newbob) Judge(s *NewbobState, loss float64) Verdict {
	if !s.Begun || loss < s.Best {
		if !s.Begun {
			s.Scale = 1
		}
		s.Begun, s.Best, s.Left = true, loss, n.Trials
		return Accepted
	}
	if s.Left--; s.Left <= 0 {
		return Finished
	}
	s.Scale *= n.Decay
	return Rejected
}
