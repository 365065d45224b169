package ab

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/internal/words"
	"github.com/crazyhouse-rl/selfplay/search/option"
)

// Params are the rules that make the search selective, with their numbers, for early
// iterations and for late ones. What finds most in a tree of few plies leaves too many
// moves in a deep one. The tags are those of package option; each key may be given in
// the text of a player.
type Params struct {
	Selection
	LateFrom  int       `yaml:"late_from" range:"1..255" usage:"first iteration, in plies, that the rules and numbers with late_ hold in"`
	LongNodes int       `yaml:"long_nodes" range:"1..1000000" usage:"searches of as many nodes, and those without a limit of nodes, are long ones"`
	LongFrom  int       `yaml:"long_from" range:"1..255" usage:"what late_from is in long searches"`
	Late      Selection `prefix:"late_"`
}

// Selection is what one iteration goes by.
type Selection struct {
	Rules
	Numbers
}

// Rules switch on and off what makes the search selective or its order better.
// With all of them off the search visits the full width of the tree and returns its
// minimax value, which is what tests compare it with.
type Rules struct {
	NullMove          bool `yaml:"null_move" usage:"give the opponent a free move to show a cutoff"`
	NullVerify        bool `yaml:"null_verify" usage:"search again without null moves where one cut off at high depth"`
	ReverseFutility   bool `yaml:"reverse_futility" usage:"trust a static evaluation far above beta"`
	Razoring          bool `yaml:"razoring" usage:"trust quiescence where the evaluation is far below alpha"`
	ProbCut           bool `yaml:"probcut" usage:"cut off where a capture holds far above beta at less depth"`
	Reductions        bool `yaml:"reductions" usage:"search late moves less deep first"`
	ReduceNoisy       bool `yaml:"reduce_noisy" usage:"reduce late captures too"`
	ReduceWinning     bool `yaml:"reduce_winning" usage:"reduce late captures that win material too"`
	ReduceCut         bool `yaml:"reduce_cut" usage:"reduce more where a cutoff is expected"`
	ReducePV          bool `yaml:"reduce_pv" usage:"reduce less where the table has seen a principal variation"`
	Deeper            bool `yaml:"deeper" usage:"search a reduced move again deeper or less deep by its score"`
	MoveCount         bool `yaml:"move_count" usage:"leave out late quiet moves near the leaves"`
	CountChecks       bool `yaml:"count_checks" usage:"leave out late quiet moves that give check too"`
	Futility          bool `yaml:"futility" usage:"leave out quiet moves that cannot reach alpha"`
	HistoryPruning    bool `yaml:"history_pruning" usage:"leave out quiet moves that history thinks little of"`
	PruneEvasions     bool `yaml:"prune_evasions" usage:"leave out late and losing moves out of check too"`
	PrunePV           bool `yaml:"prune_pv" usage:"leave out late and losing moves in principal variations too"`
	ReducedDepth      bool `yaml:"reduced_depth" usage:"futility and exchange pruning look at the depth after reduction"`
	Exchange          bool `yaml:"exchange" usage:"leave out moves that lose material"`
	Delta             bool `yaml:"delta" usage:"quiescence: leave out captures that cannot reach alpha"`
	FewMoves          bool `yaml:"few_moves" usage:"quiescence: look at few moves of a position that give no check"`
	Evasions          bool `yaml:"evasions" usage:"quiescence: try few quiet evasions"`
	Quiescence        bool `yaml:"quiescence" usage:"resolve captures and drop checks below depth 0"`
	QuiesceTable      bool `yaml:"quiesce_table" usage:"quiescence: try the table's move first"`
	Spare             bool `yaml:"spare" usage:"play no move found to lose by force in an iteration cut short, if another may not"`
	CheckExtension    bool `yaml:"check_extension" usage:"search one ply deeper in check"`
	SafeExtension     bool `yaml:"safe_extension" usage:"only for checks that lose no material"`
	ReduceEvasions    bool `yaml:"reduce_evasions" usage:"reduce late moves out of check too"`
	Singular          bool `yaml:"singular" usage:"extend the table's move where all others are much worse"`
	MultiCut          bool `yaml:"multi_cut" usage:"cut off where several moves would"`
	DoubleExtension   bool `yaml:"double_extension" usage:"extend by two where all others are far worse"`
	NegativeExtension bool `yaml:"negative_extension" usage:"search the table's move less deep where others are as good"`
	InternalReduction bool `yaml:"internal_reduction" usage:"search less deep where the table knows no move"`
	KeepEval          bool `yaml:"keep_eval" usage:"keep evaluations in the table where a cutoff comes before any move"`
	TableEval         bool `yaml:"table_eval" usage:"the table's score corrects the evaluation"`
	CorrectPawns      bool `yaml:"correct_pawns" usage:"correct the evaluation by what came of like pawns"`
	CorrectMen        bool `yaml:"correct_men" usage:"correct the evaluation by what came of like pieces of each side"`
	CorrectHands      bool `yaml:"correct_hands" usage:"correct the evaluation by what came of like hands"`
	CorrectMoves      bool `yaml:"correct_moves" usage:"correct the evaluation by what came after the same two moves"`
	ReplyTwo          bool `yaml:"reply_two" usage:"history of moves after one's own last move"`
	ReplyFour         bool `yaml:"reply_four" usage:"history of moves after one's own last move but one"`
	DropHistory       bool `yaml:"drop_history" usage:"histories of replies tell drops from moves"`
	CaptureHistory    bool `yaml:"capture_history" usage:"history of captures"`
	TableReward       bool `yaml:"table_reward" usage:"reward the table's move that cuts off"`
	EvalReward        bool `yaml:"eval_reward" usage:"reward moves by the change of the evaluation"`
	FailLowReward     bool `yaml:"fail_low_reward" usage:"reward the move that no answer was found to"`
	KeepKillers       bool `yaml:"keep_killers" usage:"killers serve the grandchildren of a position, not only its children"`
	SharpCaptures     bool `yaml:"sharp_captures" usage:"order captures that give check early even where they lose material"`
	Escape            bool `yaml:"escape" usage:"order: quiet moves out of attacks by lesser pieces come early, into them late"`
	Loose             bool `yaml:"loose" usage:"order: the same of attacks on what nothing defends"`
	Threaten          bool `yaml:"threaten" usage:"order: quiet moves that attack a greater piece come early"`
	Foresee           bool `yaml:"foresee" usage:"see a repetition one move before it comes"`
	MateProbe         bool `yaml:"mate_probe" usage:"look for drops that mate before searching"`
}

// Numbers are the numbers of the rules. Margins are in centipawns, reductions in
// 1024ths of a ply.
type Numbers struct {
	Aspiration     int `yaml:"aspiration" range:"5..400" usage:"half the first window around the last score"`
	Reverse        int `yaml:"reverse" range:"10..600" usage:"reverse futility, per ply of depth"`
	ReverseDepth   int `yaml:"reverse_depth" range:"1..20" usage:"reverse futility: greatest depth"`
	RazorBase      int `yaml:"razor_base" range:"0..2000" usage:"razoring, at depth 0"`
	RazorStep      int `yaml:"razor_step" range:"0..1000" usage:"razoring, per depth squared"`
	NullBase       int `yaml:"null_base" range:"1..8" usage:"null move: reduction, plies"`
	NullDivisor    int `yaml:"null_divisor" range:"1..16" usage:"null move: depth for one ply of reduction more"`
	VerifyDepth    int `yaml:"verify_depth" range:"2..40" usage:"null move: least depth at which null_verify searches again"`
	NullMargin     int `yaml:"null_margin" range:"20..1000" usage:"null move: evaluation above beta for one ply of reduction more"`
	ProbMargin     int `yaml:"prob_margin" range:"20..1500" usage:"ProbCut: above beta"`
	FutileBase     int `yaml:"futile_base" range:"0..1000" usage:"futility, at depth 0"`
	FutileStep     int `yaml:"futile_step" range:"0..600" usage:"futility, per ply of depth more"`
	FutileDepth    int `yaml:"futile_depth" range:"1..16" usage:"futility: greatest depth"`
	RootStep       int `yaml:"root_step" range:"0..600" usage:"futility at the root, by the score of the last search of a move, per ply of depth; 0: none"`
	RootCount      int `yaml:"root_count" range:"0..300" usage:"root moves that iteration 1 tries, captures and checks beyond that too; 0: all"`
	RootMore       int `yaml:"root_more" range:"0..300" usage:"and more of them in each further iteration"`
	RootNodes      int `yaml:"root_nodes" range:"1..1000000" usage:"searches of as many nodes, and those without a limit of nodes, try all root moves in iteration 1"`
	DeltaMargin    int `yaml:"delta_margin" range:"0..1000" usage:"quiescence, above the swing of the capture"`
	QuietLoss      int `yaml:"quiet_loss" range:"0..300" usage:"exchange loss allowed to quiet moves, per depth squared"`
	NoisyLoss      int `yaml:"noisy_loss" range:"0..600" usage:"exchange loss allowed to captures, per ply of depth"`
	CountBase      int `yaml:"count_base" range:"1..30" usage:"quiet moves tried near the leaves, at depth 0"`
	CountSquare    int `yaml:"count_square" range:"10..400" usage:"and more, hundredths of depth squared"`
	CountDepth     int `yaml:"count_depth" range:"1..40" usage:"greatest depth at which late quiet moves are left out"`
	QuietDepth     int `yaml:"quiet_depth" range:"1..40" usage:"greatest depth at which quiet moves that lose material are left out"`
	NoisyDepth     int `yaml:"noisy_depth" range:"1..40" usage:"the same of captures"`
	HistoryFloor   int `yaml:"history_floor" range:"200..20000" usage:"history pruning: least score, per ply of depth"`
	DropPlies      int `yaml:"drop_plies" range:"0..8" usage:"quiescence plies that look at drops giving check"`
	QuiesceMoves   int `yaml:"quiesce_moves" range:"1..64" usage:"quiescence: how many those are"`
	CheckDepth     int `yaml:"check_depth" range:"0..16" usage:"least depth left in check for an extension"`
	QuietEvasions  int `yaml:"quiet_evasions" range:"1..64" usage:"quiet moves out of check that quiescence tries once it has a defence"`
	SingularDepth  int `yaml:"singular_depth" range:"3..16" usage:"singular extension: least depth"`
	SingularMargin int `yaml:"singular_margin" range:"1..400" usage:"singular extension: below the table's score, 16ths per ply of depth"`
	DoubleMargin   int `yaml:"double_margin" range:"0..400" usage:"below that for an extension by two"`
	ExtendReach    int `yaml:"extend_reach" range:"0..400" usage:"extensions end at this distance from the root, per cent of the iteration"`
	ReduceDepth    int `yaml:"reduce_depth" range:"2..6" usage:"least depth that late moves are reduced at"`
	ReduceBase     int `yaml:"reduce_base" range:"-2048..4096" usage:"reduction of every late move"`
	ReduceDivisor  int `yaml:"reduce_divisor" range:"500..8000" usage:"1024 times what divides the product of the logarithms of depth and number of moves"`
	ReduceWindow   int `yaml:"reduce_window" range:"0..4096" usage:"less in a principal variation"`
	ReduceFalling  int `yaml:"reduce_falling" range:"0..4096" usage:"more where the evaluation does not improve"`
	ReduceCheck    int `yaml:"reduce_check" range:"0..4096" usage:"less for checks and killers"`
	ReduceExpected int `yaml:"reduce_expected" range:"0..4096" usage:"more where a cutoff is expected"`
	ReduceSeen     int `yaml:"reduce_seen" range:"0..4096" usage:"less where the table has seen a principal variation"`
	ReduceHistory  int `yaml:"reduce_history" range:"0..8192" usage:"less for each 8192 of history"`
	ReduceCapture  int `yaml:"reduce_capture" range:"0..4096" usage:"less for captures than for quiet moves"`
	BonusSquare    int `yaml:"bonus_square" range:"0..64" usage:"change of history, per depth squared"`
	BonusStep      int `yaml:"bonus_step" range:"0..256" usage:"and per ply of depth"`
	BonusMax       int `yaml:"bonus_max" range:"100..8000" usage:"and at most"`
	CheckBonus     int `yaml:"check_bonus" range:"0..32768" usage:"order: score of quiet moves that give check"`
	EscapeBonus    int `yaml:"escape_bonus" range:"0..16384" usage:"order: of a rook out of an attack by a lesser piece, or against it into one"`
	LooseBonus     int `yaml:"loose_bonus" range:"0..16384" usage:"order: the same where nothing defends it"`
	ThreatBonus    int `yaml:"threat_bonus" range:"0..16384" usage:"order: of a quiet move that attacks a greater piece"`
	MaterialScale  int `yaml:"material_scale" range:"0..200" usage:"by how much evaluations grow with the material on the board, per cent"`
	CorrectWeight  int `yaml:"correct_weight" range:"0..400" usage:"greatest correction of the evaluation by each history"`
	CorrectDivisor int `yaml:"correct_divisor" range:"1..64" usage:"what divides error times depth where a correction is learned"`
}

// Where late iterations begin by default. By matches a search of 400 to 2,000 nodes needs
// the early rules to iteration 5; of 5,000 nodes they would take half in some positions.
const (
	lateFrom  = 6
	longNodes = 3500
	longFrom  = 4
)

// paramsHand are for variants where captures go to hand: scores jump about twice as
// far between plies, and good moves hide among many more.
var paramsHand = Params{Selection: selectionHand, LateFrom: lateFrom, LongNodes: longNodes, LongFrom: longFrom, Late: selectionLate}

// selectionBase is where the selections of all variants begin.
var selectionBase = Selection{
	Rules: Rules{
		NullMove: true, ReverseFutility: true, Razoring: true, Reductions: true, ReduceNoisy: true, MoveCount: true,
		Futility: true, HistoryPruning: true, Delta: true, Evasions: true, Quiescence: true,
		CheckExtension: true, Singular: true, MultiCut: true, InternalReduction: true, TableEval: true, KeepEval: true,
		CorrectPawns: true, CorrectMen: true, CorrectHands: true, ReplyTwo: true, DropHistory: true,
		CaptureHistory: true, TableReward: true, FailLowReward: true, EvalReward: true, PrunePV: true, QuiesceTable: true,
		Escape: true, Loose: true, Threaten: true, Spare: true,
	},
	Numbers: Numbers{
		Aspiration: 45, Reverse: 115, ReverseDepth: 8, RazorBase: 400, RazorStep: 150,
		NullBase: 3, NullDivisor: 4, NullMargin: 170, VerifyDepth: 12, ProbMargin: 250,
		FutileBase: 100, FutileStep: 100, FutileDepth: 6, DeltaMargin: 270,
		QuietLoss: 28, NoisyLoss: 160, CountBase: 13, CountSquare: 90, CountDepth: 7, QuietDepth: 6, NoisyDepth: 5, HistoryFloor: 4500,
		RootNodes: 1000, DropPlies: 1, QuietEvasions: 4, QuiesceMoves: 2,
		SingularDepth: 4, SingularMargin: 20, DoubleMargin: 40, ExtendReach: 200,
		ReduceDepth: 3, ReduceBase: 950, ReduceDivisor: 2253, ReduceWindow: 1024, ReduceFalling: 900, ReduceCheck: 1024,
		ReduceExpected: 1024, ReduceSeen: 1024, ReduceHistory: 850, ReduceCapture: 600,
		BonusSquare: 16, BonusStep: 32, BonusMax: 1400, CheckBonus: 6000, EscapeBonus: 12000, LooseBonus: 5000, ThreatBonus: 4000,
		CorrectWeight: 90, CorrectDivisor: 7,
	},
}

// selectionHand has numbers that SPSA found at 150 nodes a move.
var selectionHand = func() Selection {
	s := selectionBase
	s.EscapeBonus, s.LooseBonus, s.ThreatBonus, s.CheckBonus = 14633, 15186, 2586, 9140
	s.Aspiration, s.Reverse, s.NullMargin, s.RazorBase, s.RazorStep = 35, 73, 221, 274, 143
	s.FutileBase, s.FutileStep, s.DeltaMargin, s.CountBase, s.CountSquare, s.HistoryFloor = 53, 125, 427, 7, 64, 5676
	s.ReduceBase, s.ReduceDivisor, s.ReduceWindow, s.ReduceFalling = 1226, 3625, 591, 1094
	s.ReduceCheck, s.ReduceHistory, s.ReduceCapture = 762, 698, 1342
	s.BonusSquare, s.BonusStep, s.BonusMax, s.CorrectWeight = 20, 59, 554, 82
	s.ExtendReach, s.SingularMargin, s.RootStep = 1, 29, 49
	s.RootCount, s.RootMore = 28, 27
	return s
}()

// selectionLate reduces and leaves out much more than selectionHand. Most of its
// margins are smaller too, as a deep search gives the leaves less weight. SPSA found most of
// its numbers, at 5,000 nodes a move.
var selectionLate = func() Selection {
	s := selectionBase
	s.Exchange, s.PruneEvasions, s.CountChecks, s.KeepKillers = true, true, true, true
	s.Razoring, s.ProbCut, s.ReducedDepth = false, true, true
	s.FewMoves, s.ReplyFour = true, true
	s.ReduceCut, s.ReducePV, s.ReduceEvasions, s.ReduceWinning = true, true, true, true
	s.NullBase, s.NullDivisor, s.FutileDepth, s.CountDepth, s.QuietDepth, s.NoisyDepth = 4, 3, 7, 40, 18, 40
	s.CheckDepth, s.SingularDepth, s.QuietEvasions = 6, 7, 2
	s.Aspiration, s.Reverse, s.NullMargin, s.ProbMargin, s.FutileBase, s.FutileStep, s.DeltaMargin = 17, 80, 48, 74, 85, 38, 320
	s.QuietLoss, s.NoisyLoss, s.CountBase, s.CountSquare, s.HistoryFloor = 23, 268, 5, 122, 4950
	s.SingularMargin, s.DoubleMargin, s.ExtendReach, s.RootStep = 6, 51, 193, 50
	s.ReduceBase, s.ReduceDivisor, s.ReduceWindow, s.ReduceFalling, s.ReduceCheck = 2061, 1733, 1842, 756, 722
	s.ReduceExpected, s.ReduceSeen, s.ReduceHistory, s.ReduceCapture = 1991, 2469, 1000, 643
	s.BonusSquare, s.BonusStep, s.BonusMax, s.CorrectWeight = 20, 43, 1617, 73
	s.CheckBonus, s.EscapeBonus, s.LooseBonus, s.ThreatBonus = 5391, 9982, 6475, 4145
	return s
}()

var paramsChess = func() Params {
	p := Params{Selection: selectionBase, LateFrom: lateFrom, LongNodes: longNodes, LongFrom: longFrom}
	p.Aspiration, p.Reverse, p.ReverseDepth, p.FutileBase, p.FutileStep, p.DeltaMargin = 25, 80, 7, 100, 80, 150
	p.QuietLoss, p.NoisyLoss, p.CountBase, p.CountSquare, p.DropPlies = 25, 90, 4, 100, 0
	p.RazorBase, p.RazorStep, p.CheckBonus = 250, 120, historyMax
	p.Exchange = true
	p.Escape, p.Loose, p.Threaten = false, false, false
	p.PrunePV, p.EvalReward, p.QuiesceTable, p.QuietEvasions = false, false, false, 3
	p.Late = p.Selection
	return p
}()

// DefaultParams returns how the engine plays a variant, by the variant's properties.
func DefaultParams(v *chess.Variant) Params {
	if v.CapturesToHand {
		return paramsHand
	}
	return paramsChess
}

// Set changes params as settings say, which are values by their keys. An error names
// the key and what was expected.
func (p *Params) Set(settings map[string]string) error {
	all := option.All(p)
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		o, ok := option.Find(all, key)
		if !ok {
			keys := option.Keys(all)
			return fmt.Errorf("found %q, the nearest is %s; expected one of %s", key, words.Nearest(key, keys), strings.Join(keys, ", "))
		}
		if err := o.Set(settings[key]); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	return nil
}
