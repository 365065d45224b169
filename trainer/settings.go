package trainer

import (
	"fmt"
	"math"
	"reflect"

	"github.com/crazyhouse-rl/selfplay/internal/check"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/search"
)

// Settings are what a person may choose of training, for every kind of net, whether
// it learns from files or from the moving window of a loop. They have the names and
// the order of configuration files; a tag usage says in a few words what a setting
// means, and is the help of the flag of its name. Raw units are the integer net's,
// 208 a pawn.
//
// Settings for the other kind of net have no effect. Each value is checked by the
// package that uses it: here by Config, and by packages nnuefit and planesfit.
type Settings struct {
	Batch            int          `yaml:"batch" usage:"positions a step"`
	LR               ScheduleText `yaml:"lr" usage:"learning rate: a number or a schedule"`
	Lambda           ScheduleText `yaml:"lambda" usage:"share of the score in the target, the rest is the result: a number or a schedule"`
	Optimiser        string       `yaml:"optimiser" usage:"sgd, adam, adamw, radam or ranger; of planes sgd or adamw"`
	Momentum         float64      `yaml:"momentum" usage:"of sgd"`
	LeastMomentum    float64      `yaml:"least_momentum" usage:"of sgd at the highest rate, for planes: the two go opposite ways"`
	Nesterov         bool         `yaml:"nesterov" usage:"momentum of sgd is Nesterov's, as always for planes"`
	Loss             string       `yaml:"loss" usage:"power, cross-entropy or pqr: which of two moves was played, from whole games"`
	Power            float64      `yaml:"power" usage:"exponent of the loss power"`
	PQRPair          float64      `yaml:"pqr_pair" usage:"weight kappa of pqr's term that a good move changes nothing"`
	PQRTarget        float64      `yaml:"pqr_target" usage:"weight of the loss power, of scores and results, beside pqr"`
	PolicyWeight     float64      `yaml:"policy_weight" usage:"of planes: weight of the loss of moves"`
	ValueWeight      float64      `yaml:"value_weight" usage:"of planes: weight of the loss of scores and results"`
	PliesWeight      float64      `yaml:"plies_weight" usage:"of planes: weight of the loss of plies left"`
	Surprise         float64      `yaml:"surprise" usage:"of planes: share of the weight that goes by what surprised the search"`
	Part             int          `yaml:"part" usage:"of planes: positions normalised together"`
	NetScale         float64      `yaml:"net_scale" usage:"raw units (208 a pawn) of the net's output per unit of log-odds of winning"`
	ScoreScale       float64      `yaml:"score_scale" usage:"the same of the scores; 0: fitted to the data. Where these do not tell it: that of the checkpoint of init, else net_scale; planes without init then have to be given it. Scores of a loop's tree search have a known one"`
	FitOffset        bool         `yaml:"fit_offset" usage:"of nnue, with score_scale 0: take from every score what the side to move must have for an even chance, fitted to the data"`
	LambdaLimit      int          `yaml:"lambda_limit" usage:"centipawns beyond which lambda2 is the share of the score; 0: none"`
	Lambda2          float64      `yaml:"lambda2" usage:"share of scores beyond lambda_limit"`
	GradientNorm     float64      `yaml:"gradient_norm" usage:"largest norm of a batch's mean gradient; 0: no limit"`
	HiddenLimit      float64      `yaml:"hidden_limit" usage:"largest weight of the hidden layers; 0: what the integer net holds"`
	OutputLimit      float64      `yaml:"output_limit" usage:"the same of the output"`
	TransformerLimit float64      `yaml:"transformer_limit" usage:"the same of the transformer"`
	WeightDecay      float64      `yaml:"weight_decay" usage:"per step and unit of learning rate"`
	MeanDecay        float64      `yaml:"mean_decay" usage:"share the averaged net keeps per step; 0: no averaging"`
	RowRate          float64      `yaml:"row_rate" usage:"rate of rows beside a factoriser, as a share of the others'"`
	Epsilon          float64      `yaml:"epsilon" usage:"of Adam and its kind, for nets of kind nnue"`
	PSQTStart        string       `yaml:"psqt_start" usage:"first values of the PSQT weights: pieces, the material in raw units (208 a pawn) as far as the features tell it, hands included; or zero"`
	Factorise        bool         `yaml:"factorise" usage:"virtual rows for feature sets with king squares"`
	Quantise         bool         `yaml:"quantise" usage:"train through the integer net's rounding"`
	Workers          int          `yaml:"workers" usage:"threads of a step, which change nothing about the result; 0: one per CPU"`

	MinPly       int     `yaml:"min_ply" usage:"leave out earlier plies"`
	ThinPly      int     `yaml:"thin_ply" usage:"keep ply n only with probability (n+1)/thin_ply"`
	MaxScore     int     `yaml:"max_score" usage:"leave out scores beyond, in centipawns; 0: none"`
	RequireScore bool    `yaml:"require_score" usage:"leave out positions without a score"`
	SkipInCheck  bool    `yaml:"skip_in_check" usage:"leave out positions in check"`
	SkipCaptures bool    `yaml:"skip_captures" usage:"leave out positions whose best move captures or promotes; drops are quiet"`
	QuietLeaf    bool    `yaml:"quiet_leaf" usage:"replace positions in check, and those whose best move captures or promotes, by the quiet positions that the move and further captures lead to; of nnue"`
	SkipDraws    bool    `yaml:"skip_draws" usage:"leave out drawn games"`
	RandomSkip   float64 `yaml:"random_skip" usage:"positions left out at random for each one kept"`
	Mirror       float64 `yaml:"mirror" usage:"percentage of positions mirrored left to right; those with rights to castle never are"`
	HeldOut      int     `yaml:"held_out" usage:"positions of held-out games that are measured"`

	Init string `yaml:"init" usage:"checkpoint, .nnue file of the same architecture, directory of learn or of a run, or builtin: the net training starts from"`
}

// ScheduleText is a schedule as ParseSchedule reads it.
type ScheduleText string

// Config returns what a Trainer needs of the settings for a run of total steps, 0
// for one without end, which draws batches ahead, of a model that takes learning
// rates up to maxRate. It reports every value that no Trainer can follow, and every
// number that no model can. Errors wrap ErrConfig, or besides ErrSchedule where a
// schedule cannot be read.
func (s *Settings) Config(seed, total uint64, maxRate float64) (Config, error) {
	c := Config{BatchSize: s.Batch, Seed: seed, HeldOut: s.HeldOut, Prefetch: true}
	wrong := check.Of(ErrConfig)
	wrong.Add(s.checkNumbers())
	var err error
	c.LearningRate, err = s.LR.upTo(maxRate, total)
	wrong.Because("lr", err)
	c.Lambda, err = s.Lambda.upTo(1, total)
	wrong.Because("lambda", err)
	check.Within(wrong, "mirror", s.Mirror, 0, 100)
	check.Within(wrong, "random_skip", s.RandomSkip, 0, math.MaxUint32)
	wrong.Add(c.validate())
	return c, wrong.Err()
}

// upTo reads a schedule for a run of total steps, which may reach at most a value,
// however long it is followed.
func (t ScheduleText) upTo(most float64, total uint64) (Schedule, error) {
	s, err := ParseSchedule(string(t), total)
	if err != nil {
		return nil, err
	}
	if highest := s.Max(); highest > most {
		return nil, fmt.Errorf("found %q, which reaches %g, expected at most %g", t, highest, most)
	}
	return s, nil
}

// checkNumbers refuses numbers that are out of range wherever they are used.
func (s *Settings) checkNumbers() error {
	wrong := check.Of(ErrConfig)
	v := reflect.ValueOf(s).Elem()
	for i := range v.NumField() {
		key, field := v.Type().Field(i).Tag.Get("yaml"), v.Field(i)
		switch {
		case field.CanFloat():
			f := field.Float()
			wrong.That(f >= 0 && !math.IsInf(f, 0), key, f, "a finite number from 0")
		case field.CanInt():
			check.Natural(wrong, key, field.Int())
		}
	}
	return wrong.Err()
}

// scoreOf is a score of centipawns, at most the highest that a sample has.
func scoreOf(centipawns int) search.Score {
	return search.Score(min(centipawns, int(sample.MaxScore)))
}

// ScoreLimit returns lambda_limit as a score.
func (s *Settings) ScoreLimit() search.Score { return scoreOf(s.LambdaLimit) }

// Filter returns which samples not to train on.
func (s *Settings) Filter() sample.Filter {
	return sample.Filter{
		MinPly: s.MinPly, MaxScore: scoreOf(s.MaxScore), RequireScore: s.RequireScore,
		SkipInCheck: s.SkipInCheck, SkipCaptures: s.SkipCaptures, QuietLeaf: s.QuietLeaf, SkipDraws: s.SkipDraws, ThinPly: s.ThinPly,
		Keep: sample.KeepOf(s.RandomSkip),
	}
}
