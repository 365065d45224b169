// Package server is the front end of this program's searches for the Universal Chess
// Interface: it reads a GUI's commands and answers them, so that the engine plays in
// any program that knows UCI and its crazyhouse dialect (UCI_Variant, drops as
// "P@e4"). Package uci has the protocol's text, and the other side of it.
package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"

	"github.com/crazyhouse-rl/selfplay/ab"
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/internal/engine"
	"github.com/crazyhouse-rl/selfplay/mcts"
	"github.com/crazyhouse-rl/selfplay/planes/runtimes"
	"github.com/crazyhouse-rl/selfplay/player"
	"github.com/crazyhouse-rl/selfplay/uci"
)

// Options says how [Serve] introduces itself and where its engine starts from.
// A zero field takes the default named with it.
type Options struct {
	Name    string // name of the engine; "selfplay"
	Version string // follows the name; may be empty
	Author  string // "the selfplay authors"

	// Player is who plays: its search, the defaults of its options, and in Net
	// the net to begin with, the default of the option EvalFile, if it is not
	// empty. Serve fails if that cannot be read, but not if it is for another
	// variant, which may be set later. The zero Player is alpha-beta search.
	Player player.Spec
	// Net evaluates positions while EvalFile is empty; nil is material, or
	// uniform priors for tree search.
	Net *player.Net

	Variant *chess.Variant // default of UCI_Variant; crazyhouse

	// XBoard makes a front end of another protocol, which obeys every command if the
	// first is "xboard"; that of package xboard/server, or nil for none.
	XBoard func(*Engine) (obey func(line string))

	MaxHashMB  int // bound of Hash; 0: player.MaxHashMB
	MaxThreads int // bound of Threads; 0: that of player.Resources
}

func (o Options) withDefaults() Options {
	o.Name = cmp.Or(o.Name, "selfplay")
	o.Author = cmp.Or(o.Author, "the selfplay authors")
	o.Variant = cmp.Or(o.Variant, chess.Crazyhouse)
	p := &o.Player
	p.Search = cmp.Or(p.Search, player.AlphaBeta)
	hash := ab.DefaultHashMB
	if p.Search == player.TreeSearch {
		if p.Tree == (mcts.Options{}) {
			p.Tree = mcts.DefaultOptions()
		}
		hash = p.Tree.MemoryMB
		p.Runtime.Name = cmp.Or(p.Runtime.Name, runtimes.Native)
	}
	r := &p.Resources
	r.HashMB, r.Threads = cmp.Or(r.HashMB, hash), cmp.Or(r.Threads, ab.DefaultThreads)
	if o.MaxHashMB == 0 {
		o.MaxHashMB = player.MaxHashMB()
	}
	r.HashMB = min(r.HashMB, o.MaxHashMB)
	if o.MaxThreads > 0 {
		r.Threads = min(r.Threads, o.MaxThreads)
	}
	if o.Net == nil {
		o.Net = player.NoNet(p.Search)
	}
	return o
}

// Serve is a UCI engine: it reads commands from r and writes its answers to w
// until "quit", the end of r or the end of ctx. Both ends of the input return
// nil; otherwise the error is ctx's or that of r or w. A search under way is
// stopped and its move printed before Serve returns, and every goroutine but
// one has ended by then: if it was ctx that ended, the reader of r ends with
// the next line or the end of r.
//
// Commands that are not known are ignored. A command that is known but faulty
// is answered with one "info string" that says what was found and what was
// expected; a faulty position command leaves the position reached before its
// fault, a faulty option leaves the option as it was.
//
// Every go is answered by one bestmove. It is 0000, after an "info string" that says
// why, where a move would be an answer to another question: after a position command
// that was faulty, until the next one that is not; after an EvalFile that could not be
// read, until one that can, and while it is for another variant (isready says so too);
// and if none of searchmoves is legal. A go whose limits cannot be read, or are the other
// side's alone, so that nothing would end the search, searches for [faultyTime]. Where
// there is no legal move, the bestmove is (none).
//
// The first search after ucinewgame or setoption says by which net it plays.
//
// Besides the protocol's own, the commands are: d (board, FEN, key), eval
// (static evaluation of the position), perft N or go perft N, bench [DEPTH].
func Serve(ctx context.Context, r io.Reader, w io.Writer, o Options) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s, err := newServer(ctx, o.withDefaults(), &output{w: w, fail: cancel, mark: "info string "})
	if err != nil {
		return err
	}
	defer s.end()
	obey := s.execute
	in := &input{lines: make(chan string)}
	go in.read(ctx, r)
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case f := <-s.after:
			f()
		case line, ok := <-in.lines:
			if !ok { // the end of the stream, or of ctx
				return cmp.Or(context.Cause(ctx), in.err)
			}
			s.out.read(line)
			if isQuit(line) {
				return nil
			}
			if o.XBoard != nil && line != "" {
				if line == "xboard" {
					s.out.mark = "# "
					obey = o.XBoard(&Engine{s})
				}
				o.XBoard = nil // it was not the first
			}
			s.settle()
			obey(line)
		}
	}
}

// end ends the job and closes the engine.
func (s *server) end() {
	s.finish()
	s.settle()
	s.finish()
	s.drop()
	s.release()
	s.out.logMu.Lock()
	defer s.out.logMu.Unlock()
	s.out.closeLog()
}

// input reads commands ahead of their execution, so that the end of the
// context is noticed while no command comes.
type input struct {
	lines chan string
	err   error // valid when lines is closed; nil at the end of the stream
}

// tooLong stands for a line that was too long to be read; no line has a line feed.
const tooLong = "\n"

func (in *input) read(ctx context.Context, r io.Reader) {
	defer close(in.lines)
	for lr := engine.NewLineReader(r); ; {
		line, err := lr.Next()
		switch {
		case errors.Is(err, engine.ErrLineTooLong):
			line = tooLong
		case errors.Is(err, io.EOF):
			return
		case err != nil:
			in.err = fmt.Errorf("uci: reading commands: %w", err)
			return
		}
		select {
		case in.lines <- line:
		case <-ctx.Done():
			return
		}
		if isQuit(line) {
			return
		}
	}
}

func isQuit(line string) bool {
	f := strings.Fields(line)
	return len(f) > 0 && f[0] == "quit"
}

// output serialises what the command loop and a running search write.
type output struct {
	mu   sync.Mutex
	w    io.Writer
	mark string                  // before a comment
	fail context.CancelCauseFunc // called with the first error of w

	logMu sync.Mutex // of log; never held while w is written
	log   *debugLog  // nil: none
}

// write writes one or more whole lines at once.
func (o *output) write(text []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.logged('>', text); err != nil {
		text = append(fmt.Appendf(nil, logEnded, err), text...)
	}
	if _, err := o.w.Write(text); err != nil {
		o.fail(fmt.Errorf("uci: writing answers: %w", err))
	}
}

func (o *output) printf(format string, args ...any) {
	o.write(fmt.Appendf(nil, format+"\n", args...))
}

// maxComment bounds the text of a comment in bytes.
const maxComment = 400

// comment prints a comment, of UCI an "info string": one line, whatever text contains.
func (o *output) comment(format string, args ...any) {
	text := strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, fmt.Sprintf(format, args...))
	if len(text) > maxComment {
		text = strings.ToValidUTF8(text[:maxComment], "") + "…"
	}
	o.printf("%s%s", o.mark, text)
}

// server is the state between commands. Only the command loop touches it; a
// running job works on what it was given.
type server struct {
	ctx  context.Context
	opts Options // as given, with defaults
	out  *output
	settings
	line *chess.Line // the position and how it came about; replaced, never changed
	// rejected says why the last position command was faulty, netErr why the net
	// that EvalFile names could not be read; nil if all is well. See missing, too.
	rejected, netErr error
	// announce says that the next search tells by which net it plays.
	announce bool
	// Limited strength draws moves by numbers that follow from drawn, which is new
	// for every server, and from games, the count of games begun.
	drawn, games uint64
	known        []serverOption
	engine       player.Own   // nil until needed, and after a change it cannot take in
	retired      []player.Own // engines that are out of use, to be closed
	tableMB      int          // size of the engine's table
	// newGame and clear are done as soon as no search runs.
	newGame, clear bool
	job            *job // the last job, finished or not; nil at first
	// after has what the command loop is to do before the next command.
	after chan func()
}

func newServer(ctx context.Context, o Options, out *output) (*server, error) {
	s := &server{ctx: ctx, opts: o, out: out, after: make(chan func(), 16), settings: settings{
		player: o.Player, protocol: defaultProtocol(), variant: o.Variant, net: o.Net, netName: builtIn,
	}}
	s.known = s.options()
	s.announce, s.drawn = true, rand.Uint64()
	if o.Player.Net != "" {
		if err := s.setEvalFile(o.Player.Net); err != nil && !isForeign(err) {
			return nil, err
		}
	}
	s.line = chess.NewLine(s.start())
	return s, nil
}

// start returns the initial position of the variant with the castling notation
// that is set.
func (s *server) start() chess.Position {
	p := s.variant.Start()
	p.SetChess960(s.Chess960)
	return p
}

// execute obeys one command.
func (s *server) execute(line string) {
	if line == tooLong { // it may have been a position
		s.rejected = engine.ErrLineTooLong
		s.out.comment("%v", s.rejected)
	}
	fields := strings.Fields(line)
	if len(fields) == 0 {
		return
	}
	switch fields[0] {
	case "uci":
		s.identify()
	case "isready":
		s.isReady()
	case "ucinewgame":
		s.newGame, s.announce = true, true
		s.games++
	case "setoption":
		s.announce = true
		if err := s.setOption(line); err != nil {
			s.out.comment("%v", err)
		}
	case "position":
		s.position(fields[1:])
	case "go":
		s.goCommand(fields[1:])
	case "stop":
		s.stop()
	case "ponderhit":
		s.ponderhit()
	case "perft":
		s.perft(fields[1:])
	case "bench":
		s.bench(fields[1:])
	case "d":
		s.display()
	case "eval":
		s.evaluate()
	}
}

// isReady obeys "isready": what stands in the way of a search is told first.
func (s *server) isReady() {
	if err := s.missing(); err != nil {
		s.out.comment("%v", err)
	} else if !s.busy() {
		if _, err := s.ready(); err != nil {
			s.out.comment("%v", err)
		}
	}
	s.out.printf("readyok")
}

// fullName is the engine's name with its version.
func (o *Options) fullName() string {
	if o.Version == "" {
		return o.Name
	}
	return o.Name + " " + o.Version
}

func (s *server) identify() {
	var b strings.Builder
	fmt.Fprintf(&b, "id name %s\nid author %s\n\n", s.opts.fullName(), s.opts.Author)
	for _, o := range s.known {
		fmt.Fprintf(&b, "option name %s %s\n", o.name, o.describe)
	}
	b.WriteString("uciok\n")
	s.out.write([]byte(b.String()))
}

// position obeys "position startpos|fen FEN [moves …]".
func (s *server) position(fields []string) {
	line, err := s.parsePosition(fields)
	if line != nil {
		s.line = line
	}
	if s.rejected = err; err != nil {
		s.out.comment("%v", err)
	}
}

// parsePosition reads what follows the word position. On a faulty move the line is that
// of the moves before it, on other faults nil. The fields of a FEN are not counted:
// parsing it says what is missing.
func (s *server) parsePosition(fields []string) (*chess.Line, error) {
	head, moves := fields, []string(nil)
	for i, f := range fields {
		if f == "moves" {
			head, moves = fields[:i], fields[i+1:]
			break
		}
	}
	var start chess.Position
	switch {
	case len(head) == 1 && head[0] == "startpos":
		start = s.start()
	case len(head) > 1 && head[0] == "fen":
		parse := chess.ParseFEN
		if s.Chess960 {
			parse = chess.ParseFEN960
		}
		p, err := parse(s.variant, strings.Join(head[1:], " "))
		if err != nil {
			return nil, fmt.Errorf("position ignored: %w", err)
		}
		p.SetChess960(s.Chess960) // rights by the rooks' files do not turn it on where e1g1 can be written
		start = p
	default:
		return nil, fmt.Errorf("position ignored: found %q, expected startpos or fen", strings.Join(head, " "))
	}
	line := chess.NewLine(start)
	for i, text := range moves {
		m, err := uci.ParseMove(line.Pos(), text)
		if err != nil {
			return line, fmt.Errorf("position ends before move %d, in %s: %w", i+1, line.Pos().FEN(), err)
		}
		line.Push(m)
	}
	return line, nil
}
