package net

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/planes/arch"
	"github.com/crazyhouse-rl/selfplay/planes/arch/archtest"
	"github.com/crazyhouse-rl/selfplay/planes/onnx"
)

// saveONNX writes a model to a file of its own directory.
func saveONNX(t *testing.T, m *onnx.Model) string {
	t.Helper()
	b, err := onnx.Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "net.onnx")
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestNetInspectONNX(t *testing.T) {
	m := archtest.Net(t, "residual 1x8 heads=wdl", 1)
	path := saveONNX(t, m)
	out, stderr, code := selfplayCommand(t, "", "net", "inspect", path)
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	for _, want := range []string{
		"residual 1x8 policy=1 value=8/64 heads=wdl", "data float batch×34×8×8", "policy_out float batch×5184",
		"Add 3, BatchNormalization 5, Conv 6,", `selfplay.variant = "crazyhouse"`, `operator set 13, by "selfplay"`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("found\n%s\nexpected %q in it", out, want)
		}
	}

	// A net of another program has no architecture.
	m.Metadata = nil
	out, stderr, code = selfplayCommand(t, "", "net", "inspect", saveONNX(t, m), "--json")
	var r arch.Report
	if code != 0 || json.Unmarshal([]byte(out), &r) != nil {
		t.Fatalf("exit code %d: %s%s", code, out, stderr)
	}
	if r.Architecture != "" || r.MACs != 0 || r.Operators["Conv"] != 6 || len(r.Outputs) != 3 || r.Outputs[0].Name != "value_out" {
		t.Errorf("found %+v", r)
	}
	a, err := arch.Parse("residual 1x8 heads=wdl")
	if err != nil {
		t.Fatal(err)
	}
	if r.Numbers <= a.Count() {
		t.Errorf("found %d numbers, expected more than the %d trained", r.Numbers, a.Count())
	}
}

func TestNetQuantcheckONNX(t *testing.T) {
	path := saveONNX(t, archtest.Net(t, "residual 1x32", 1))
	out, stderr, code := selfplayCommand(t, "", "net", "quantcheck", path, "--count", "200", "--json")
	var c planesCheck
	if code != 0 || json.Unmarshal([]byte(out), &c) != nil {
		t.Fatalf("exit code %d: %s%s", code, out, stderr)
	}
	if c.Runtime != "int8" || c.Positions < 150 || c.KL <= 0 || c.KL > 0.01 || c.Best < 0.5 || c.Value <= 0 || c.Largest > 0.05 || c.P999 > c.Largest || c.Worst == "" {
		t.Errorf("found %+v", c)
	}
	out, _, code = selfplayCommand(t, "", "net", "quantcheck", path, "--count", "100", "--runtime", "native")
	if code != 0 || !strings.Contains(out, "the same in 100.00 %, 0.00000 of") || !strings.Contains(out, "KL divergence 0.000000 mean") {
		t.Errorf("exit code %d: %s", code, out)
	}
	out, stderr, code = selfplayCommand(t, "", "net", "quantcheck", path, "--count", "20", "--against", "onnxgo")
	if code != 0 || !strings.Contains(out, "native, beside onnxgo\n") || !strings.Contains(out, "the same in 100.00 %, 0.00000 of") || !strings.Contains(out, "value            0.00000 off") {
		t.Errorf("exit code %d: %s%s", code, out, stderr)
	}
	out, stderr, code = selfplayCommand(t, "", "net", "quantcheck", path, "--count", "20", "--against", "onnxgo", "--runtime", "int8", "--json")
	c = planesCheck{}
	if code != 0 || json.Unmarshal([]byte(out), &c) != nil || c.Runtime != "int8" || c.Against != "onnxgo" || c.KL <= 0 || c.KL > 0.01 {
		t.Errorf("exit code %d: %s%s", code, out, stderr)
	}
	for flag, want := range map[string]string{
		"--against=tpu": "--against: ", "--max-p999=1e-9": "99.9th percentile", "--runtime=tpu": "--runtime: ",
		"--library=x.so": "--library without --runtime ort",
		"--plot=x.png":   "--plot without an NNUE net", "--checkpoint=x": "--checkpoint without an NNUE net", "--scale=400": "--scale without an NNUE net",
	} {
		_, stderr, code := selfplayCommand(t, "", "net", "quantcheck", path, "--count", "20", flag)
		if code == 0 || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d, %q, expected %q", flag, code, stderr, want)
		}
	}
}

func TestNetInspectONNXRefuses(t *testing.T) {
	path := saveONNX(t, archtest.Net(t, "residual 1x8", 1))
	_, stderr, code := selfplayCommand(t, "", "net", "inspect", path, "--draw", "x")
	if code == 0 || !strings.Contains(stderr, "is an ONNX file") {
		t.Errorf("--draw: exit code %d: %s", code, stderr)
	}
	if err := os.Truncate(path, 1000); err != nil {
		t.Fatal(err)
	}
	_, stderr, code = selfplayCommand(t, "", "net", "inspect", path)
	if code == 0 || !strings.Contains(stderr, "not a valid ONNX model") {
		t.Errorf("truncated: exit code %d: %s", code, stderr)
	}
}
