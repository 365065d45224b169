package cluster

import (
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/nats-io/nats-server/v2/server"
)

// The written files as far as the tests read them. A key that is not here is an error:
// misspelt, it would be ignored by who runs them.
type (
	composeProject struct {
		Name     string
		Common   any `yaml:"x-common"`
		Services map[string]composeService
	}
	composeService struct {
		Image           string
		Entrypoint      []string
		Command         []string
		Environment     map[string]string
		User            string
		Restart         string
		ReadOnly        bool     `yaml:"read_only"`
		CapDrop         []string `yaml:"cap_drop"`
		SecurityOpt     []string `yaml:"security_opt"`
		StopSignal      string   `yaml:"stop_signal"`
		StopGracePeriod string   `yaml:"stop_grace_period"`
		DependsOn       []string `yaml:"depends_on"`
		Tmpfs           []string
		Expose          []string
		Ulimits         map[string]int
		Logging         any
		Deploy          any
		Healthcheck     any
		Volumes         []composeVolume
	}
	composeVolume struct {
		Type, Source, Target string
		ReadOnly             bool `yaml:"read_only"`
	}

	manifest struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string
		Metadata   metadata
		Spec       yaml.RawMessage
	}
	metadata struct {
		Name, Namespace string
		Labels          map[string]string
		Annotations     map[string]string
	}
	workload struct {
		Replicas            int
		ServiceName         string `yaml:"serviceName"`
		PodManagementPolicy string `yaml:"podManagementPolicy"`
		Selector            struct {
			MatchLabels map[string]string `yaml:"matchLabels"`
		}
		Template struct {
			Metadata metadata
			Spec     podSpec
		}
		VolumeClaimTemplates []struct {
			APIVersion string `yaml:"apiVersion"`
			Kind       string
			Metadata   metadata
			Spec       any
		} `yaml:"volumeClaimTemplates"`
	}
	podSpec struct {
		AutomountServiceAccountToken  *bool `yaml:"automountServiceAccountToken"`
		EnableServiceLinks            *bool `yaml:"enableServiceLinks"`
		TerminationGracePeriodSeconds int   `yaml:"terminationGracePeriodSeconds"`
		SecurityContext               struct {
			RunAsNonRoot        bool   `yaml:"runAsNonRoot"`
			RunAsUser           int    `yaml:"runAsUser"`
			RunAsGroup          int    `yaml:"runAsGroup"`
			FSGroup             int    `yaml:"fsGroup"`
			FSGroupChangePolicy string `yaml:"fsGroupChangePolicy"`
			SeccompProfile      any    `yaml:"seccompProfile"`
		} `yaml:"securityContext"`
		TopologySpreadConstraints []any `yaml:"topologySpreadConstraints"`
		Containers                []container
		Volumes                   []volume
	}
	container struct {
		Name, Image     string
		Command, Args   []string
		Env             []envVar
		Ports           []containerPort
		SecurityContext struct {
			AllowPrivilegeEscalation *bool `yaml:"allowPrivilegeEscalation"`
			ReadOnlyRootFilesystem   bool  `yaml:"readOnlyRootFilesystem"`
			Capabilities             struct{ Drop []string }
		} `yaml:"securityContext"`
		Resources struct {
			Requests map[string]string
		}
		StartupProbe   *probe `yaml:"startupProbe"`
		ReadinessProbe *probe `yaml:"readinessProbe"`
		LivenessProbe  *probe `yaml:"livenessProbe"`
		Lifecycle      any
		VolumeMounts   []struct {
			Name      string
			MountPath string `yaml:"mountPath"`
			ReadOnly  bool   `yaml:"readOnly"`
		} `yaml:"volumeMounts"`
	}
	envVar struct {
		Name      string
		Value     string
		ValueFrom struct {
			FieldRef struct {
				FieldPath string `yaml:"fieldPath"`
			} `yaml:"fieldRef"`
		} `yaml:"valueFrom"`
	}
	containerPort struct {
		Name          string
		ContainerPort int `yaml:"containerPort"`
	}
	probe struct {
		HTTPGet          struct{ Path, Port string } `yaml:"httpGet"`
		PeriodSeconds    int                         `yaml:"periodSeconds"`
		TimeoutSeconds   int                         `yaml:"timeoutSeconds"`
		FailureThreshold int                         `yaml:"failureThreshold"`
	}
	volume struct {
		Name     string
		EmptyDir *struct{} `yaml:"emptyDir"`
		Secret   struct {
			SecretName  string `yaml:"secretName"`
			DefaultMode string `yaml:"defaultMode"`
		}
		Projected struct {
			DefaultMode string `yaml:"defaultMode"`
			Sources     []struct {
				ConfigMap struct{ Name string } `yaml:"configMap"`
				Secret    struct{ Name string }
			}
		}
	}
	kustomization struct {
		APIVersion         string `yaml:"apiVersion"`
		Kind, Namespace    string
		Resources          []string
		ConfigMapGenerator []generator `yaml:"configMapGenerator"`
		SecretGenerator    []generator `yaml:"secretGenerator"`
	}
	generator struct {
		Name  string
		Files []string
	}
)

func strict(t *testing.T, text string, to any) {
	t.Helper()
	if err := yaml.UnmarshalWithOptions([]byte(text), to, yaml.Strict()); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
}

// manifests are the documents of the files that the kustomization names.
func manifests(t *testing.T, files map[string]string) (k kustomization, all []manifest) {
	t.Helper()
	strict(t, files["kustomization.yaml"], &k)
	for _, name := range k.Resources {
		if files[name] == "" {
			t.Fatalf("found no %s, which the kustomization names", name)
		}
		for _, text := range strings.Split(files[name], "\n---\n") {
			if strings.TrimSpace(text) == "" {
				continue
			}
			var m manifest
			strict(t, text, &m)
			all = append(all, m)
		}
	}
	return k, all
}

func compose(t *testing.T, files map[string]string) (p composeProject) {
	t.Helper()
	strict(t, files["compose.yaml"], &p)
	return p
}

// A compose file has every server and role, as nobody, on a root that cannot be written,
// and the files that it mounts are there.
func TestComposeFile(t *testing.T) {
	dir := t.TempDir()
	p := testPlan()
	write(t, dir, p, Options{})
	files := tree(t, dir)
	project := compose(t, files)
	if len(project.Services) != len(p.Servers)+len(p.Roles) {
		t.Errorf("found %d services, expected %d", len(project.Services), len(p.Servers)+len(p.Roles))
	}
	for name, s := range project.Services {
		if !s.ReadOnly || !strings.HasPrefix(s.User, "${SELFPLAY_USER:?") || !slices.Equal(s.CapDrop, []string{"ALL"}) || len(s.SecurityOpt) == 0 || s.Restart == "" || len(s.Ulimits) == 0 {
			t.Errorf("service %s is not shut in: %+v", name, s)
		}
		for _, v := range s.Volumes {
			if _, err := os.Stat(filepath.Join(dir, v.Source)); err != nil || v.Type != "bind" || strings.HasPrefix(v.Target, "/etc/") != v.ReadOnly {
				t.Errorf("service %s: volume %+v: %v", name, v, err)
			}
		}
		for _, on := range s.DependsOn {
			if _, ok := project.Services[on]; !ok {
				t.Errorf("service %s depends on %s, which is not there", name, on)
			}
		}
	}
	if !strings.Contains(files[".env"], "SELFPLAY_IMAGE="+DefaultImage) {
		t.Errorf(".env: found\n%s", files[".env"])
	}
}

// Manifests give every user its own secret, keep what must not be lost on volumes, and
// say when a container is alive and ready. Names that refer to others are of what is there.
func TestManifests(t *testing.T) {
	dir := t.TempDir()
	p := testPlan()
	p.Image = "registry.example/selfplay:v1"
	write(t, dir, p, Options{})
	files := tree(t, dir)
	k, all := manifests(t, files)
	secrets, configs := map[string][]string{}, map[string][]string{}
	for to, list := range map[*map[string][]string][]generator{&secrets: k.SecretGenerator, &configs: k.ConfigMapGenerator} {
		for _, g := range list {
			for _, f := range g.Files {
				if files[f] == "" {
					t.Errorf("secret %s: found no file %s", g.Name, f)
				}
				if strings.HasSuffix(f, ".nk") || strings.HasSuffix(f, "ca.key") {
					t.Errorf("secret %s has %s, which is for who runs the cluster", g.Name, f)
				}
				(*to)[g.Name] = append((*to)[g.Name], path.Base(f))
			}
		}
	}
	kinds := map[string]int{}
	services := map[string]bool{}
	for _, m := range all {
		kinds[m.Kind]++
		if m.Kind == "Service" {
			services[m.Metadata.Name] = true
		}
	}
	if want := map[string]int{"Namespace": 1, "Service": 2, "StatefulSet": 5, "Deployment": 2, "PodDisruptionBudget": 1, "NetworkPolicy": 4}; fmt.Sprint(kinds) != fmt.Sprint(want) {
		t.Errorf("found %v, expected %v", kinds, want)
	}
	for _, m := range all {
		if m.Kind != "StatefulSet" && m.Kind != "Deployment" {
			continue
		}
		var w workload
		strict(t, string(m.Spec), &w)
		pod, name := w.Template.Spec, m.Metadata.Name
		c := pod.Containers[0]
		if len(pod.Containers) != 1 || !pod.SecurityContext.RunAsNonRoot || pod.SecurityContext.RunAsUser == 0 || pod.SecurityContext.FSGroupChangePolicy != "OnRootMismatch" ||
			*pod.AutomountServiceAccountToken || *c.SecurityContext.AllowPrivilegeEscalation || !c.SecurityContext.ReadOnlyRootFilesystem ||
			!slices.Equal(c.SecurityContext.Capabilities.Drop, []string{"ALL"}) || c.Resources.Requests["cpu"] == "" || c.Resources.Requests["memory"] == "" {
			t.Errorf("%s is not shut in, or asks for nothing: %+v", name, pod)
		}
		if m.Kind == "StatefulSet" && (!services[w.ServiceName] || len(w.VolumeClaimTemplates) != 1) {
			t.Errorf("%s: found service %q and %d volumes, expected one that is there and one", name, w.ServiceName, len(w.VolumeClaimTemplates))
		}
		for key, value := range w.Selector.MatchLabels {
			if w.Template.Metadata.Labels[key] != value {
				t.Errorf("%s selects %s=%s, and its pods have labels %v", name, key, value, w.Template.Metadata.Labels)
			}
		}
		for what, pr := range map[string]*probe{"readiness": c.ReadinessProbe, "liveness": c.LivenessProbe} {
			if pr == nil || !slices.ContainsFunc(c.Ports, func(p containerPort) bool { return p.Name == pr.HTTPGet.Port }) {
				t.Errorf("%s has no probe of %s at a port of its own: %+v", name, what, pr)
			}
		}
		if name == "nats" {
			if w.Replicas != 3 || len(secrets["nats-tls"]) != 3 || len(configs["nats-config"]) != 1 {
				t.Errorf("nats: %d replicas, secret %v, configuration %v", w.Replicas, secrets["nats-tls"], configs["nats-config"])
			}
			continue
		}
		if c.Image != p.Image || c.ReadinessProbe.HTTPGet.Path != "/readyz" || c.LivenessProbe.HTTPGet.Path != "/healthz" {
			t.Errorf("%s: image %s, probes %+v, %+v", name, c.Image, c.ReadinessProbe, c.LivenessProbe)
		}
		if !slices.Contains(secrets[name], c.Args[0]+".creds") || len(secrets[name]) != 2 {
			t.Errorf("%s has the secret %v, expected the credentials of one user", name, secrets[name])
		}
	}
}

// The configuration that servers in containers share is one to the server's own parser.
func TestContainersServerConfiguration(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, testPlan(), Options{})
	for _, name := range []string{"containers/nats.conf", "kubernetes/nats.conf"} {
		text := strings.ReplaceAll(tree(t, dir)[name], "/etc/nats", filepath.Join(dir, "machines", "s1", "etc", "nats"))
		file := filepath.Join(t.TempDir(), "nats.conf")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv("SERVER_NAME", "nats-1")
		o, err := server.ProcessConfigFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if o.ServerName != "nats-1" || !o.JetStream || !o.SyncAlways || len(o.Routes) != 3 || len(o.TrustedOperators) != 1 || o.TLSConfig == nil {
			t.Errorf("%s: found %+v", name, o)
		}
	}
}

// A server in a container has the name of its service, whatever the configuration's parser
// would take that for, and one that a host may have.
func TestContainersServerNames(t *testing.T) {
	dir := t.TempDir()
	p := testPlan()
	p.Servers = append(p.Servers, Machine{"n4", "s4"}, Machine{"n5", "s5"})
	for i, name := range []string{"1", "true", "5g", "on", "2024-01-01t00-00"} {
		p.Servers[i].Name = name
	}
	write(t, dir, p, Options{})
	files := tree(t, dir)
	file := filepath.Join(t.TempDir(), "nats.conf")
	text := strings.ReplaceAll(files["containers/nats.conf"], "/etc/nats", filepath.Join(dir, "machines", "s1", "etc", "nats"))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	services := compose(t, files).Services
	for _, name := range []string{"nats-1", "true", "5g", "on", "2024-01-01t00-00"} {
		t.Setenv("SERVER_NAME", services[name].Environment["SERVER_NAME"])
		o, err := server.ProcessConfigFile(file)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if o.ServerName != name || !slices.ContainsFunc(o.Routes, func(u *url.URL) bool { return u.Hostname() == name }) {
			t.Errorf("found server %q with routes %v, expected %s among them", o.ServerName, o.Routes, name)
		}
	}
}

// Who runs the containers stays as a person has set it, and nothing else of that file does.
func TestUserOfContainersStays(t *testing.T) {
	dir := t.TempDir()
	w := &writer{dir: dir}
	usual, err := w.composeUser()
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"SELFPLAY_USER=4242:4343": "4242:4343", "SELFPLAY_USER=4242:4343 \r": "4242:4343",
		"SELFPLAY_USER=": usual, "SELFPLAY_USER=nobody": usual, "#SELFPLAY_USER=4242:4343": usual, "": usual,
	} {
		if err := os.WriteFile(filepath.Join(dir, envFile), []byte("# mine\n"+line+"\nSELFPLAY_IMAGE=x\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := w.composeUser(); err != nil || got != want {
			t.Errorf("%q: found %s, error %v, expected %s", line, got, err, want)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, envFile), []byte("SELFPLAY_USER=4242:4343\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		write(t, dir, testPlan(), Options{})
		if text := tree(t, dir)[envFile]; !strings.Contains(text, "\nSELFPLAY_USER=4242:4343\nSELFPLAY_IMAGE="+DefaultImage+"\n") {
			t.Errorf(".env: found\n%s", text)
		}
	}
}

func TestStoreOfVolume(t *testing.T) {
	for size, want := range map[string]int{"64GB": 73, "1TB": 1153, "1GB": 2} {
		if got := storeGiB(size); got != want {
			t.Errorf("%s: found %d GiB, expected %d", size, got, want)
		}
	}
}
