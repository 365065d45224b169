package cluster

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/crazyhouse-rl/selfplay/observe"
)

var metricName = regexp.MustCompile(`selfplay_[a-z_]+`)

// known fails for names in an expression that no process shows.
func known(t *testing.T, where, expr string) {
	t.Helper()
	names := observe.Names()
	found := metricName.FindAllString(expr, -1)
	for _, name := range found {
		name = strings.TrimSuffix(strings.TrimSuffix(name, "_sum"), "_count")
		if !slices.Contains(names, name) {
			t.Errorf("%s: no process shows %s", where, name)
		}
	}
	if len(found) == 0 && !strings.Contains(expr, `job="selfplay"`) {
		t.Errorf("%s: %s is not of this program", where, expr)
	}
	for _, pair := range []string{"()", "[]", "{}"} {
		if strings.Count(expr, pair[:1]) != strings.Count(expr, pair[1:]) {
			t.Errorf("%s: %s does not close what it opens", where, expr)
		}
	}
}

func TestMonitoring(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, testPlan(), Options{})
	files := tree(t, dir)

	var rules struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr, For string
				Labels           map[string]string
				Annotations      map[string]string
			}
		}
	}
	if err := yaml.Unmarshal([]byte(files["monitoring/alerts.yml"]), &rules); err != nil {
		t.Fatal(err)
	}
	if len(rules.Groups) != 1 || len(rules.Groups[0].Rules) != len(alerts) {
		t.Fatalf("found %+v", rules)
	}
	for i, r := range rules.Groups[0].Rules {
		if r.Alert != alerts[i].Name || r.Expr != alerts[i].Expr || r.For == "" || !slices.Contains([]string{"critical", "warning"}, r.Labels["severity"]) ||
			r.Annotations["summary"] != alerts[i].Summary || r.Annotations["do"] == "" {
			t.Errorf("alert %s: found %+v", alerts[i].Name, r)
		}
		known(t, r.Alert, r.Expr)
	}

	var prometheus struct {
		RuleFiles     []string `yaml:"rule_files"`
		ScrapeConfigs []struct {
			JobName       string `yaml:"job_name"`
			StaticConfigs []struct {
				Targets []string
				Labels  map[string]string
			} `yaml:"static_configs"`
		} `yaml:"scrape_configs"`
	}
	if err := yaml.Unmarshal([]byte(files["monitoring/prometheus.yml"]), &prometheus); err != nil {
		t.Fatal(err)
	}
	if len(prometheus.ScrapeConfigs) != 1 || len(prometheus.ScrapeConfigs[0].StaticConfigs) != len(testPlan().Roles) {
		t.Fatalf("found %+v", prometheus)
	}
	for i, s := range prometheus.ScrapeConfigs[0].StaticConfigs {
		m := testPlan().Roles[i]
		unit := files["machines/"+m.Host+"/etc/systemd/system/selfplay-"+m.Name+".service"]
		_, port, _ := strings.Cut(s.Targets[0], ":")
		if !strings.HasPrefix(s.Targets[0], m.Host+":") || s.Labels["role"] != m.Name || !strings.Contains(unit, "--metrics 0.0.0.0:"+port) {
			t.Errorf("%s on %s is scraped at %+v", m.Name, m.Host, s)
		}
	}

	var board struct {
		Panels []struct {
			Title   string `json:"title"`
			Targets []struct {
				Expr string `json:"expr"`
			} `json:"targets"`
		} `json:"panels"`
	}
	if err := json.Unmarshal([]byte(files["monitoring/grafana.json"]), &board); err != nil {
		t.Fatal(err)
	}
	if len(board.Panels) != len(panels) {
		t.Fatalf("found %d panels, expected %d", len(board.Panels), len(panels))
	}
	for _, p := range board.Panels {
		if len(p.Targets) == 0 {
			t.Errorf("panel %s is empty", p.Title)
		}
		for _, q := range p.Targets {
			known(t, p.Title, q.Expr)
		}
	}
}

// A volume that is half full is no reason for the alert of the disk.
func TestDiskAlertKnowsVolumes(t *testing.T) {
	at := slices.IndexFunc(alerts, func(a alert) bool { return a.Name == "SelfplayDiskSmall" })
	_, text, _ := strings.Cut(alerts[at].Expr, "selfplay_disk_free_bytes < ")
	least, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	for role, n := range roleNeeds {
		if half := float64(n.Disk) / 2 * (1 << 20); n.Disk > 0 && half < least {
			t.Errorf("%s: half of its volume is %.0f bytes, the alert comes below %.0f", role, half, least)
		}
	}
}
