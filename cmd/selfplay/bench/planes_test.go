package bench

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestBenchPlanes(t *testing.T) {
	dir := t.TempDir()
	net, text := filepath.Join(dir, "net.onnx"), filepath.Join(dir, "text.onnx")
	if err := os.WriteFile(text, []byte("no net"), 0o600); err != nil {
		t.Fatal(err)
	}
	fast := []string{"bench", "planes", "--batch", "1,3", "--rounds", "1", "--each", "1ms"}
	out, errOut, code := selfplayCommand(t, "", append(fast, "--arch", "residual 1x16", "--save", net, "--runtime", "onnxgo")...)
	if code != 0 {
		t.Fatalf("exit %d: %s", code, errOut)
	}
	if rows := regexp.MustCompile(`(?m)^ +[13]( +\d+)+ *$`).FindAllString(out, -1); len(rows) != 2 || !strings.Contains(out, "generic/s") || !strings.Contains(out, "onnxgo/s") {
		t.Errorf("found\n%s\nexpected a row of rates for batches of 1 and 3", out)
	}
	accuracy := regexp.MustCompile(`(?m)^int8, 512 positions: \d+\.\d % equal best moves of all labels; value: mean error \d\.\d{4}, largest \d\.\d{4}$`)
	if accuracy.MatchString(out) {
		t.Errorf("found\n%s\nexpected nothing of bytes without --int8", out)
	}
	out, errOut, code = selfplayCommand(t, "", append(fast, "--net", net, "--int8", "--positions", filepath.Join(dir, "positions.bin"))...)
	if code != 0 || !accuracy.MatchString(out) {
		t.Errorf("exit %d: %s%s\nexpected a match of %v", code, errOut, out, accuracy)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--net", net, "--peer", os.Args[0] + " -test.list=^$"}, "found the end of its output, expected an answer"},
		{[]string{"--net", text}, "not a valid ONNX model"},
		{[]string{"--net", "builtin"}, "found builtin, expected a plane net"},
		{[]string{"--arch", "tower"}, `found "tower"`},
		{[]string{"--runtime", "tpu"}, `found "tpu", expected one of native, int8, onnxgo`},
		{[]string{"--runtime", "onnxgo", "--library", "x.so"}, "found --library without --runtime ort"},
		{[]string{"--batch", "0"}, "found --batch 0, expected 1 to 4096"},
		{[]string{"--rounds", "0"}, "found --rounds 0"},
	} {
		_, errOut, code := selfplayCommand(t, "", append(fast, c.args...)...)
		if code == 0 || !strings.Contains(errOut, c.want) {
			t.Errorf("%v: exit %d with %q, expected an error with %q", c.args, code, errOut, c.want)
		}
	}
}
