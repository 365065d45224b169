package replay

// Ratio holds training to a number of samples per new position, as KataGo's
// train.py does: a bucket that new positions fill and training empties. An
// empty bucket means to wait for games. It is a plain value; as JSON it is
// part of a checkpoint.
type Ratio struct {
	PerRow float64 `json:"per_row"` // samples allowed per new position
	Cap    float64 `json:"cap"`     // most samples that new positions may save up
	Tokens float64 `json:"tokens"`  // samples allowed now
	Seen   uint64  `json:"seen"`    // positions counted so far
}

// Rows sets how many positions were stored in all. If they are fewer than
// before, the buffer is another one: the bucket is emptied and counting goes
// on from there.
func (r *Ratio) Rows(total uint64) {
	if total < r.Seen {
		r.Tokens, r.Seen = 0, total
		return
	}
	r.Tokens = max(r.Tokens, min(r.Cap, r.Tokens+r.PerRow*float64(total-r.Seen)))
	r.Seen = total
}

// Advance adds n samples that no new position pays for, beyond the cap too.
func (r *Ratio) Advance(n float64) { r.Tokens += n }

// InAdvance reports whether some of the samples of Advance are left: more are allowed than
// new positions may save up.
func (r *Ratio) InAdvance() bool { return r.Tokens > r.Cap }

// Take removes n samples from the bucket if it holds as many.
func (r *Ratio) Take(n int) bool {
	if r.Tokens < float64(n) {
		return false
	}
	r.Tokens -= float64(n)
	return true
}
