// Package lint checks the rules of the house that no compiler checks: which
// package may import which, and which dependency belongs to one package only.
package lint

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/crazyhouse-rl/selfplay"

// group gives the layer of every package: a package imports only from lower
// layers, in its tests too. Sub-packages that a layer-mate may import stand in
// sameLayer, what only tests may import beyond that in testsOnly.
var group = map[string]int{
	"chess":                1,
	"kernel":               1,
	"kernel/emulate":       1,
	"search":               2,
	"search/clock":         2,
	"search/option":        2,
	"search/strength":      2,
	"nnue/features":        2,
	"nnue":                 3,
	"nnue/nnuetest":        3,
	"nnue/netstat":         4,
	"nnue/builtin":         4,
	"planes/onnx":          2,
	"planes/onnx/onnxtest": 3,
	"ab":                   3,
	"mcts":                 3,
	"planes":               3,
	"planes/planestest":    3,
	"planes/arch":          4,
	"planes/native":        4,
	"planes/arch/archtest": 4,
	"planes/onnxgo":        4,
	"planes/ort":           4,
	"planes/runtimes":      5,
	"game/plycode":         3,
	"game":                 4,
	"game/positions":       5,
	"sample":               4,
	"sample/sampletest":    4,
	"sample/wdl":           4,
	"nets":                 2,
	"configs":              8,
	"sample/bin":           5,
	"sample/binpack":       5,
	"sample/chain":         5,
	"sample/plain":         5,
	"sample/thesis":        5,
	"replay":               5,
	"replay/replaytest":    5,
	"trainer":              7,
	"trainer/nnuefit":      7,
	"trainer/planesfit":    7,
	"trainer/run":          9,
	"match":                7,
	"match/rating":         5,
	"tune":                 8,
	"match/book":           4,
	"uci":                  5,
	"xboard":               5,
	"player":               6,
	"uci/server":           7,
	"xboard/server":        8,
	"generate":             7,
	"rescore":              7,
	"analysis":             7,
	"dataset":              6,
	"lab/puzzles":          7,
	"bus":                  6,
	"selfplay":             10,
	"lab":                  10,
	"observe":              11,
	"doctor":               11,
	"backup":               11,
	"cluster":              11,
	"dash":                 11,

	// Folders of commands share what is in internal/cli and import none of each
	// other.
	"cmd/selfplay/internal/cli":     11,
	"cmd/selfplay/internal/clitest": 12,
	"cmd/selfplay/analyse":          13,
	"cmd/selfplay/backup":           13,
	"cmd/selfplay/bench":            13,
	"cmd/selfplay/book":             13,
	"cmd/selfplay/cluster":          13,
	"cmd/selfplay/compare":          13,
	"cmd/selfplay/config":           13,
	"cmd/selfplay/dash":             13,
	"cmd/selfplay/data":             13,
	"cmd/selfplay/gensfen":          13,
	"cmd/selfplay/learn":            13,
	"cmd/selfplay/loop":             13,
	"cmd/selfplay/match":            13,
	"cmd/selfplay/net":              13,
	"cmd/selfplay/play":             13,
	"cmd/selfplay/position":         13,
	"cmd/selfplay/puzzles":          13,
	"cmd/selfplay/roles":            13,
	"cmd/selfplay/tune":             13,
	"cmd/selfplay/uci":              13,
	"cmd/selfplay/version":          13,
	"cmd/selfplay":                  14,

	"scripts/chaos":    13,
	"scripts/cluster":  13,
	"scripts/load":     13,
	"scripts/soak":     13,
	"scripts/splitnet": 13,

	"internal/allocator":   1,
	"internal/await":       0,
	"internal/chaos":       12,
	"internal/chaos/fault": 10,
	"internal/bounded":     0,
	"internal/check":       1,
	"internal/clustertest": 11,
	"internal/cputime":     1,
	"internal/dirlock":     1,
	"internal/disk":        0,
	"internal/engine":      5,
	"internal/durable":     0,
	"internal/leak":        0,
	"internal/median":      0,
	"internal/memory":      0,
	"internal/golden":      1,
	"internal/figure":      2,
	"internal/invariants":  1,
	"internal/mockengine":  2,
	"internal/words":       1,
	"internal/tfevents":    1,
	"internal/logistic":    1,
	"internal/parallel":    1,
	"internal/pause":       0,
	"internal/script":      1,
	"internal/secret":      1,
	"internal/soak":        12,
	"internal/splitmix":    0,
	"internal/lint":        14,
	"internal/interop":     14,
}

var sameLayer = map[[2]string]bool{
	{"search/clock", "search"}:                    true,
	{"search/strength", "search"}:                 true,
	{"nnue/nnuetest", "nnue"}:                     true,
	{"planes/planestest", "planes"}:               true,
	{"planes/arch/archtest", "planes/arch"}:       true,
	{"planes/planestest", "planes/onnx/onnxtest"}: true,
	{"sample", "game"}:                            true,
	{"sample/sampletest", "sample"}:               true,
	{"replay/replaytest", "replay"}:               true,
	{"match/book", "game"}:                        true,
	{"uci", "internal/engine"}:                    true,
	{"xboard", "internal/engine"}:                 true,
	{"xboard", "uci"}:                             true,
	{"trainer/nnuefit", "trainer"}:                true,
	{"trainer/planesfit", "trainer"}:              true,
	{"cmd/selfplay/internal/cli", "observe"}:      true,
	{"cmd/selfplay/internal/cli", "dash"}:         true,
}

// testsOnly lists what tests may import beside what the package may.
var testsOnly = map[[2]string]bool{
	{"nnue", "nnue/nnuetest"}:                 true, // makes the networks
	{"trainer", "trainer/nnuefit"}:            true, // the model to train
	{"sample/binpack", "sample/plain"}:        true, // the same samples as text
	{"sample/chain", "sample/plain"}:          true,
	{"sample/plain", "sample/bin"}:            true, // the same samples in both
	{"sample/thesis", "sample/plain"}:         true,
	{"planes/arch", "planes/arch/archtest"}:   true, // makes the nets
	{"planes/native", "planes/arch/archtest"}: true,
	{"planes/onnxgo", "planes/arch/archtest"}: true,
	{"planes/ort", "planes/arch/archtest"}:    true,

	{"cluster", "observe"}:              true, // the names that alerts are about
	{"cluster", "internal/clustertest"}: true, // builds the programs

	{"cmd/selfplay/data", "cmd/selfplay/gensfen"}:    true, // makes the games
	{"cmd/selfplay/learn", "cmd/selfplay/gensfen"}:   true,
	{"cmd/selfplay/compare", "cmd/selfplay/gensfen"}: true,
	{"cmd/selfplay/compare", "cmd/selfplay/learn"}:   true, // make cells again
	{"cmd/selfplay/compare", "cmd/selfplay/match"}:   true,
}

// owner names, for an outside dependency, the packages that may import it: with
// cmd/selfplay, the folders in it.
var owner = map[string][]string{
	"github.com/nats-io/":      {"bus", "cluster", "internal/chaos"}, // chaos has actors that keep to no rule
	"github.com/prometheus/":   {"observe"},
	"github.com/spf13/cobra":   {"cmd/selfplay"},
	"github.com/spf13/pflag":   {"cmd/selfplay"},
	"github.com/goccy/go-yaml": {"configs", "cluster"}, // there in tests
	"gonum.org/v1/gonum/":      {"match/rating", "tune", "lab"},
	"gonum.org/v1/plot":        {"internal/figure"},
	"google.golang.org/proto":  {"planes/onnx"},
	"github.com/owulveryck/":   {"planes/onnxgo"},
	"github.com/yalue/":        {"planes/ort"},
	"gorgonia.org/":            {"planes/onnxgo", "trainer/planesfit"},
	"github.com/parquet-go/":   {"lab"},
}

type pkg struct {
	ImportPath   string
	Imports      []string
	TestImports  []string // of test files in the package
	XTestImports []string // and in package x_test, which may import x itself
	Doc          string
}

func list(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-tags=ort", "-json=ImportPath,Imports,TestImports,XTestImports,Doc", module+"/...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []pkg
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatalf("go list output: %v", err)
		}
		all = append(all, p)
	}
}

func short(path string) string { return strings.TrimPrefix(path, module+"/") }

func TestImports(t *testing.T) {
	pkgs := list(t)
	if len(pkgs) < 10 {
		t.Fatalf("go list found %d packages: the rule would be vacuous", len(pkgs))
	}
	for _, p := range pkgs {
		from := short(p.ImportPath)
		if _, known := group[from]; !known {
			t.Errorf("package %s has no layer: give it one in internal/lint", from)
			continue
		}
		for _, imp := range p.Imports {
			if short(imp) == "cmd/selfplay/internal/clitest" {
				t.Errorf("%s imports %s: only tests may", from, imp)
			}
			checkImport(t, from, imp, false)
		}
		for _, imp := range slices.Concat(p.TestImports, p.XTestImports) {
			checkImport(t, from, imp, true)
		}
	}
}

// checkImport applies the rules to an import of package from or of its tests.
func checkImport(t *testing.T, from, imp string, test bool) {
	t.Helper()
	for prefix, only := range owner {
		owns := func(owner string) bool {
			return from == owner || owner == "cmd/selfplay" && strings.HasPrefix(from, owner+"/")
		}
		if strings.HasPrefix(imp, prefix) && !slices.ContainsFunc(only, owns) {
			t.Errorf("%s imports %s: only %s may", from, imp, strings.Join(only, " and "))
		}
	}
	to := short(imp)
	edge := [2]string{from, to}
	if !strings.HasPrefix(imp, module) || sameLayer[edge] || test && (from == to || testsOnly[edge]) {
		return
	}
	if group[to] >= group[from] {
		t.Errorf("%s (layer %d) imports %s (layer %d): imports go to lower layers only", from, group[from], to, group[to])
	}
}

func TestPackageComments(t *testing.T) {
	for _, p := range list(t) {
		if p.Doc == "" && short(p.ImportPath) != "internal/lint" {
			t.Errorf("package %s has no package comment", short(p.ImportPath))
		}
	}
}
