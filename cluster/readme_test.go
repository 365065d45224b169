package cluster

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/configs"
)

var copying = regexp.MustCompile(`(?m)^ +rsync (\S+) `)

// What is copied onto a machine leaves the owner and the mode of what it has as they are,
// those of /etc itself among it.
func TestCopiesLeaveOwnersAndModes(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, testPlan(), Options{})
	for _, name := range []string{filepath.Join(dir, "README.md"), filepath.Join("..", "docs", "cluster.md")} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		found := copying.FindAllStringSubmatch(string(text), -1)
		if len(found) == 0 {
			t.Errorf("%s: found no rsync", name)
		}
		for _, f := range found {
			if f[1] != "-rc" {
				t.Errorf("%s: found rsync %s, expected -rc: no owners, no modes, and no file that is the same", name, f[1])
			}
		}
	}
}

var variableRow = regexp.MustCompile("(?m)^\\| `selfplay-([a-z]+)` \\| `([A-Z_]+)` \\|.*\\| ([0-9]+) \\|$")

// The variables by which roles take more cores are settings of one machine, and those that
// the units run with unless they are set are as the README says.
func TestReadmeNamesCores(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, testPlan(), Options{})
	laptop, err := configs.Preset("laptop") // of a role that is not told another one
	if err != nil {
		t.Fatal(err)
	}
	var units []string
	for _, row := range variableRow.FindAllStringSubmatch(tree(t, dir)["README.md"], -1) {
		units = append(units, row[1])
		cfg := laptop
		environ := []string{row[2] + "=64"}
		if err := cfg.SetEnv(environ); err != nil {
			t.Error(err)
		}
		if got := fmt.Sprint(configs.Differences(laptop, cfg)); !strings.HasSuffix(got, ": "+row[3]+" → 64]") {
			t.Errorf("%s: found %s, expected %s before", row[2], got, row[3])
		}
		if shared, err := configs.SharedGiven(nil, "", environ, nil); err != nil || len(shared) > 0 {
			t.Errorf("%s: found %v, which the run decides, error %v", row[2], shared, err)
		}
	}
	if want := []string{"actor", "gate", "trainer"}; !slices.Equal(units, want) {
		t.Errorf("found variables of %v, expected %v", units, want)
	}
}

var patchOfClaim = regexp.MustCompile(`(?m)^    kubectl --namespace selfplay-crazyhouse patch pvc (\S+) --patch '(.*)'$`)

// Claims of a StatefulSet cannot change: the README says how the servers' get the room that
// the manifest asks for, each of them, before the set is made anew around its pods.
func TestReadmeEnlargesClaims(t *testing.T) {
	dir := t.TempDir()
	p := testPlan()
	p.Store = "500GB"
	write(t, dir, p, Options{})
	files := tree(t, dir)
	_, all := manifests(t, files)
	i := slices.IndexFunc(all, func(m manifest) bool { return m.Kind == "StatefulSet" && m.Metadata.Name == "nats" })
	var w workload
	strict(t, string(all[i].Spec), &w)
	var claims []string
	for n := range w.Replicas {
		claims = append(claims, fmt.Sprintf("%s-nats-%d", w.VolumeClaimTemplates[0].Metadata.Name, n))
	}
	var found []string
	for _, line := range patchOfClaim.FindAllStringSubmatch(files["README.md"], -1) {
		found = append(found, line[1])
		var patch struct{ Spec any }
		strict(t, line[2], &patch)
		requests := map[string]any{"storage": "563Gi"}
		if want := map[string]any{"resources": map[string]any{"requests": requests}}; !reflect.DeepEqual(patch.Spec, any(want)) {
			t.Errorf("%s: found %v, expected %v", line[1], patch.Spec, want)
		}
		if spec := fmt.Sprint(w.VolumeClaimTemplates[0].Spec); !strings.Contains(spec, fmt.Sprint(requests)) {
			t.Errorf("the manifest: found %s, expected %v", spec, requests)
		}
	}
	if !slices.Equal(found, claims) {
		t.Errorf("found patches of %v, expected %v", found, claims)
	}
	if _, after, _ := strings.Cut(files["README.md"], "delete statefulset nats --cascade=orphan"); !strings.Contains(after, "kubectl apply --kustomize .") {
		t.Error("found no set made anew around its pods, and applied")
	}
}
