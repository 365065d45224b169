package position

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/internal/figure"
	"github.com/crazyhouse-rl/selfplay/planes"
	"github.com/crazyhouse-rl/selfplay/search"
)

type planesOptions struct {
	variant  string
	chess960 bool
	fen      string
	moves    string
	file     string
	draw     string
	clamp    bool
}

func newPlanesCommand() *cobra.Command {
	var o planesOptions
	c := &cobra.Command{
		Use:   "planes",
		Short: "Print or draw the planes that convolutional nets see of positions",
		Long: `Encode positions as 34 planes of 8 by 8 numbers, the input of convolutional nets,
and print a JSON object a line. Its key sparse lists every number that is not 0
as [plane, row, column, value], sorted; row 0 is the back rank of the side to
move. occurred_before says how often the position stood on the board earlier in
its moves, final_fen where the moves lead.

A file has a JSON object on every line with the keys fen and, if moves follow,
moves: a list of moves in UCI's notation or a string of them separated by blanks.
A key id is passed on, others are ignored. Lines that are no position are reported
and skipped, and the exit code is 1.

docs/formats.md has the meaning of every plane.`,
		Example: `  selfplay planes --fen 'rnbqkb1r/pp1ppppp/5n2/2p5/4P3/8/PPPP1PPP/RNBQKBNR[] w KQkq - 0 3'
  selfplay planes --moves 'g1f3 g8f6 f3g1 f6g8'
  selfplay planes --file positions.jsonl > planes.jsonl
  selfplay planes --moves 'e2e4 d7d5 e4d5 d8d5' --draw planes.png`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return runPlanes(c.Context(), c.InOrStdin(), c.OutOrStdout(), c.ErrOrStderr(), o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.variant, "variant", "crazyhouse", "crazyhouse or chess")
	f.BoolVar(&o.chess960, "chess960", false, "Chess960 castling (king takes rook)")
	f.StringVar(&o.fen, "fen", "", "position; default the start position")
	f.StringVar(&o.moves, "moves", "", "moves that lead on from the position, separated by blanks")
	f.StringVar(&o.file, "file", "", "encode every line of this file (- for standard input)")
	f.StringVar(&o.draw, "draw", "", "draw the planes into this file, .png or .svg, instead of printing them")
	f.BoolVar(&o.clamp, "clamp", false, "limit every number to 1")
	return c
}

func runPlanes(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer, o planesOptions) error {
	v, err := cli.Variant(o.variant)
	if err != nil {
		return err
	}
	if o.file != "" {
		if o.fen != "" || o.moves != "" || o.draw != "" {
			return fmt.Errorf("%w: found --file with --fen, --moves or --draw, which are for one position", cli.ErrUsage)
		}
		w := bufio.NewWriter(stdout)
		err := o.encodeFile(ctx, stdin, w, stderr, v)
		return errors.Join(err, w.Flush())
	}
	if o.draw != "" {
		if err := figure.CheckPath(o.draw); err != nil {
			return fmt.Errorf("%w: --draw: %w", cli.ErrUsage, err)
		}
	}
	e, err := o.encode(v, planesLine{FEN: o.fen, Moves: strings.Fields(o.moves)})
	if err != nil {
		return err
	}
	if o.draw == "" {
		return json.NewEncoder(stdout).Encode(e)
	}
	if err := e.sheet().Save(o.draw); err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "wrote %s\n", o.draw)
	return err
}

// encodeFile encodes the lines of a file. Bad ones are reported and skipped.
func (o *planesOptions) encodeFile(ctx context.Context, stdin io.Reader, w, stderr io.Writer, v *chess.Variant) error {
	out := json.NewEncoder(w)
	failed := false
	err := cli.EachLine(ctx, o.file, stdin, func(l cli.Line) error {
		var in planesLine
		err := json.Unmarshal([]byte(l.Text), &in)
		if err == nil && in.FEN == "" {
			err = errors.New(`found no key "fen", expected a position there`)
		}
		var e *encoded
		if err == nil {
			e, err = o.encode(v, in)
		}
		if err != nil {
			failed = true
			fmt.Fprintf(stderr, "%s:%d: %v\n", o.file, l.Number, err)
			return nil
		}
		return out.Encode(e)
	})
	if err == nil && failed {
		return cli.ErrSilent
	}
	return err
}

// planesLine is what a line of a file asks for.
type planesLine struct {
	ID    string    `json:"id"`
	FEN   string    `json:"fen"`
	Moves moveWords `json:"moves"`
}

// moveWords are moves in UCI's notation: in JSON a list, or a string of them
// separated by blanks.
type moveWords []string

func (m *moveWords) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*m = strings.Fields(text)
		return nil
	}
	var list []string
	if err := json.Unmarshal(data, &list); err != nil {
		return fmt.Errorf("moves: found %.40s, expected a list of moves or a string", data)
	}
	*m = list
	return nil
}

// encoded is a position with its planes, and how it is printed.
type encoded struct {
	ID          string    `json:"id,omitempty"`
	FEN         string    `json:"fen"`
	Moves       moveWords `json:"moves,omitempty"`
	FinalFEN    string    `json:"final_fen,omitempty"`
	Repetitions int       `json:"occurred_before"`
	Sparse      sparse    `json:"sparse"`

	position chess.Position
}

// encode plays the moves and encodes the position they lead to.
func (o *planesOptions) encode(v *chess.Variant, in planesLine) (*encoded, error) {
	start, err := cli.Position(v, in.FEN, o.chess960)
	if err != nil {
		return nil, err
	}
	game := chess.NewLine(start)
	for i, text := range in.Moves {
		m, err := game.Pos().ParseUCI(text)
		if err != nil {
			return nil, fmt.Errorf("move %d: %w", i+1, err)
		}
		game.Push(m)
	}
	e := &encoded{
		ID: in.ID, FEN: cmp.Or(in.FEN, start.FEN()), Moves: in.Moves,
		Repetitions: game.Repetitions(), Sparse: make(sparse, planes.Size), position: search.Current(game),
	}
	if len(in.Moves) > 0 {
		e.FinalFEN = e.position.FEN()
	}
	planes.Encode(e.Sparse, &e.position, e.Repetitions)
	if o.clamp {
		planes.Clamp(e.Sparse)
	}
	return e, nil
}

// sparse is all numbers of the planes of a position; JSON has those that are not 0,
// each as [plane, row, column, value].
type sparse []float32

func (s sparse) MarshalJSON() ([]byte, error) {
	b := []byte{'['}
	for i, v := range s {
		if v == 0 {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(b, '[')
		for _, n := range [...]int{i / 64, i / 8 % 8, i % 8} {
			b = append(strconv.AppendInt(b, int64(n), 10), ',')
		}
		b = append(strconv.AppendFloat(b, float64(v), 'f', -1, 32), ']')
	}
	return append(b, ']'), nil
}

// sheetRows are the planes in the order in which they are drawn: own pieces, the
// enemy's, own hand with promoted pieces, the enemy's, and the rest.
var sheetRows = [][]int{
	{0, 1, 2, 3, 4, 5}, {6, 7, 8, 9, 10, 11}, {14, 15, 16, 17, 18, 24}, {19, 20, 21, 22, 23, 25},
	{12, 13, 26, 27, 28, 33}, {29, 30, 31, 32},
}

// sheet draws all planes as boards with row 0 below, the number of constant ones
// in words.
func (e *encoded) sheet() *figure.Figure {
	f := &figure.Figure{Title: fmt.Sprintf("%s   seen before: %d", e.position.FEN(), e.Repetitions), Unit: "input"}
	ranks := []string{"1", "2", "3", "4", "5", "6", "7", "8"}
	if e.position.SideToMove() == chess.Black {
		ranks = []string{"8", "7", "6", "5", "4", "3", "2", "1"}
	}
	for _, row := range sheetRows {
		var panels []figure.Panel
		for _, plane := range row {
			var squares [64]float64
			for i, v := range e.Sparse[plane*64:][:64] {
				squares[i] = float64(v)
			}
			title := fmt.Sprintf("%d %s", plane, planes.Name(plane))
			if planes.Constant(plane) {
				title += fmt.Sprintf(" %.3g", squares[0])
			}
			board := figure.Board(title, &squares)
			board.YLabels, board.Grid = ranks, true
			panels = append(panels, board)
		}
		f.Rows = append(f.Rows, panels)
	}
	return f
}
