package replay

// Counts are sums over games.
type Counts struct {
	Games   uint64 `json:"games"`
	HeldOut uint64 `json:"held_out"` // of Games
	Rows    uint64 `json:"rows"`     // trainable positions of the games not held out
}

func (c *Counts) add(f facts) {
	c.Games++
	if f.heldOut {
		c.HeldOut++
	} else {
		c.Rows += uint64(f.trainable)
	}
}

func (c *Counts) merge(o Counts) {
	c.Games += o.Games
	c.HeldOut += o.HeldOut
	c.Rows += o.Rows
}

// minus returns by how much c is more than o, modulo 2^64.
func (c Counts) minus(o Counts) Counts {
	return Counts{c.Games - o.Games, c.HeldOut - o.HeldOut, c.Rows - o.Rows}
}
