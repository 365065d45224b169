package planesfit

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"math"

	"github.com/crazyhouse-rl/selfplay/planes/arch"
	"github.com/crazyhouse-rl/selfplay/trainer"
)

// A checkpoint, little-endian throughout:
//
//	magic [8], version uint32, length uint32
//	head: JSON of that length, see checkpointHead
//	parameters, running means and variances, float32
//	first moments of the derivatives; second ones, of AdamW
//	the averaged net, if there is one, in the order of the parameters
//	CRC-32C of everything before it, uint32
const (
	checkpointMagic   = "PLANEFIT"
	checkpointVersion = 1
	checkpointStart   = len(checkpointMagic) + 8
	maxHead           = 1 << 16
)

// checkpointHead is what a checkpoint says before its numbers.
type checkpointHead struct {
	Architecture string            `json:"architecture"`
	Variant      string            `json:"variant"`
	Optimiser    trainer.Optimiser `json:"optimiser"`
	Steps        uint64            `json:"steps"`
	Born         uint64            `json:"born"` // steps at which the moments began
	ScoreScale   float64           `json:"score_scale"`
	Mean         bool              `json:"mean"` // the averaged net follows
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Checkpoint writes the whole state of training to w: parameters, moments, average.
// It changes nothing, so training goes on as if it had not been called.
func (m *Model) Checkpoint(w io.Writer) error {
	head, err := json.Marshal(checkpointHead{
		Architecture: m.net.arch.String(), Variant: m.variant.Name, Optimiser: m.cfg.Optimiser,
		Steps: m.steps, Born: m.born, ScoreScale: m.cfg.ScoreScale, Mean: m.mean != nil,
	})
	if err != nil {
		return fmt.Errorf("write model checkpoint: %w", err)
	}
	b := []byte(checkpointMagic)
	b = binary.LittleEndian.AppendUint32(b, checkpointVersion)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(head)))
	b = append(b, head...)
	for _, table := range [][]float32{m.net.params.all, m.first, m.second, m.mean} {
		for _, x := range table {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
		}
	}
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	if _, err := w.Write(b); err != nil {
		return fmt.Errorf("write model checkpoint: %w", err)
	}
	return nil
}

// Restore replaces the whole state with a checkpoint's. The model must have been
// made for the same architecture; settings other than the score scale are not part
// of a checkpoint. After another optimiser's checkpoint the model's own begins anew
// at its parameters; an average that it lacks begins there too. On error, which
// wraps trainer.ErrCheckpoint unless r itself failed, nothing has changed. Restore reads to
// the end of r, which must be the end of the checkpoint.
func (m *Model) Restore(r io.Reader) error {
	numbers := 2*len(m.net.params.all) + 2*m.net.params.trained
	most := int64(checkpointStart + maxHead + 4*numbers + 4)
	b, err := io.ReadAll(io.LimitReader(r, most+1))
	if err != nil {
		return fmt.Errorf("restore model: %w", err)
	}
	if int64(len(b)) > most {
		return fmt.Errorf("restore model: %w: found more than %d bytes, the most that this net has", trainer.ErrCheckpoint, most)
	}
	if err := m.restore(b); err != nil {
		return fmt.Errorf("restore model: %w: %w", trainer.ErrCheckpoint, err)
	}
	return nil
}

func (m *Model) restore(b []byte) error {
	head, b, err := readHead(b)
	if err != nil {
		return err
	}
	if a, err := arch.Parse(head.Architecture); err != nil || a != m.net.arch {
		return fmt.Errorf("found a net %s, expected %s", head.Architecture, m.net.arch)
	}
	if head.Variant != m.variant.Name {
		return fmt.Errorf("found a net for %s, expected %s", head.Variant, m.variant.Name)
	}
	cfg := m.cfg
	cfg.ScoreScale = head.ScoreScale
	if err := cfg.Validate(); err != nil {
		return err
	}
	if head.Born > head.Steps {
		return fmt.Errorf("found moments that begin at step %d, after step %d", head.Born, head.Steps)
	}
	p := m.net.params
	sizes := []int{len(p.all), p.trained, 0, 0}
	switch head.Optimiser {
	case trainer.AdamW:
		sizes[2] = p.trained
	case trainer.SGD:
	default:
		return fmt.Errorf("found optimiser %q, expected one of %q", head.Optimiser, Optimisers())
	}
	if head.Mean {
		sizes[3] = len(p.all)
	}
	var tables [4][]float32
	for i, size := range sizes {
		if len(b) < 4*size {
			return io.ErrUnexpectedEOF
		}
		tables[i], b = readTable(b, size), b[4*size:]
	}
	if len(b) > 0 {
		return fmt.Errorf("found %d bytes after its end", len(b))
	}
	m.cfg, m.steps, m.born = cfg, head.Steps, head.Born
	copy(p.all, tables[0])
	m.restart(head.Optimiser, tables[1], tables[2])
	if m.mean != nil {
		copy(m.mean, p.all)
		copy(m.mean, tables[3])
	}
	return nil
}

// restart takes over an optimiser's moments, or begins anew if they are another's.
func (m *Model) restart(o trainer.Optimiser, first, second []float32) {
	if o != m.cfg.Optimiser {
		clear(m.first)
		clear(m.second)
		m.born = m.steps
		return
	}
	copy(m.first, first)
	copy(m.second, second)
}

// readHead checks the frame of a checkpoint and returns its head and numbers.
func readHead(b []byte) (head checkpointHead, numbers []byte, err error) {
	if len(b) < checkpointStart+4 {
		return head, nil, io.ErrUnexpectedEOF
	}
	if !bytes.HasPrefix(b, []byte(checkpointMagic)) {
		return head, nil, fmt.Errorf("found magic %q, expected %q", b[:len(checkpointMagic)], checkpointMagic)
	}
	version, length := binary.LittleEndian.Uint32(b[len(checkpointMagic):]), binary.LittleEndian.Uint32(b[len(checkpointMagic)+4:])
	if version != checkpointVersion {
		return head, nil, fmt.Errorf("found version %d, expected %d", version, checkpointVersion)
	}
	body := b[:len(b)-4]
	if found, sum := binary.LittleEndian.Uint32(b[len(body):]), crc32.Checksum(body, castagnoli); found != sum {
		return head, nil, fmt.Errorf("found checksum %08x, expected %08x", found, sum)
	}
	body = body[checkpointStart:]
	if length > maxHead || int(length) > len(body) {
		return head, nil, fmt.Errorf("found a head of %d bytes, expected at most %d", length, min(maxHead, len(body)))
	}
	if err := json.Unmarshal(body[:length], &head); err != nil {
		return head, nil, err
	}
	return head, body[length:], nil
}

func readTable(b []byte, n int) []float32 {
	table := make([]float32, n)
	for i := range table {
		table[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return table
}
