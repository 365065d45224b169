package cluster

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/internal/clustertest"
)

// job is a process as one of the written files has it.
type job struct {
	name   string
	words  []string          // command line
	env    []string          // NAME=VALUE, all there are
	mounts map[string]string // what lies at the paths that it has, of files and directories; "": an empty directory
	ready  string            // URL that answers 200 when it is ready
	host   string            // name of it in the addresses of others
}

// deployment runs jobs on this machine: each at an address of its own on the loopback
// interface, with its files below a directory of its own.
type deployment struct {
	t         *testing.T
	programs  clustertest.Programs
	addresses map[string]string // of hosts, by name
}

// network draws addresses on the loopback interface: ports are those of the files.
func network(t *testing.T) func(i int) string {
	t.Helper()
	for range 100 {
		b, c := 1+rand.IntN(250), 1+rand.IntN(250)
		address := func(i int) string { return fmt.Sprintf("127.%d.%d.%d", b, c, i+1) }
		if l, err := net.Listen("tcp", address(0)+":4222"); err == nil {
			l.Close()
			return address
		}
	}
	t.Fatal("found no free address on the loopback interface")
	return nil
}

// places replaces paths of a job's machine, and hosts, by those of this one.
func (d *deployment) places(j *job, root string) *strings.Replacer {
	var pairs []string
	for target := range j.mounts {
		pairs = append(pairs, target, filepath.Join(root, target))
	}
	for name, address := range d.addresses {
		pairs = append(pairs, "//"+name+":", "//"+address+":")
	}
	own := d.addresses[j.host]
	return strings.NewReplacer(append(pairs, "0.0.0.0", own, "127.0.0.1:8222", own+":8222")...)
}

// start starts a job. The test's end kills it.
func (d *deployment) start(j *job) {
	t := d.t
	t.Helper()
	root := t.TempDir()
	places := d.places(j, root)
	for target, source := range j.mounts {
		to := filepath.Join(root, target)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if source == "" {
			if err := os.MkdirAll(to, 0o755); err != nil {
				t.Fatal(err)
			}
			continue
		}
		text, err := os.ReadFile(source)
		if err != nil {
			t.Fatalf("%s: %v", j.name, err)
		}
		info, err := os.Stat(source)
		if err == nil && (filepath.Ext(to) == ".conf" || filepath.Ext(to) == ".sh") {
			text = []byte(places.Replace(string(text)))
		}
		if err == nil {
			err = os.WriteFile(to, text, info.Mode().Perm())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	program, ok := map[string]string{"nats-server": d.programs.Server, "selfplay": d.programs.Selfplay, "sh": "/bin/sh"}[path.Base(j.words[0])]
	if !ok {
		t.Fatalf("%s: found program %s, expected nats-server, selfplay or sh", j.name, j.words[0])
	}
	var args []string
	for _, w := range j.words[1:] {
		args = append(args, places.Replace(w))
	}
	log, err := os.Create(filepath.Join(root, "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, args...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = append([]string{"PATH=" + filepath.Dir(d.programs.Server) + ":/usr/bin:/bin"}, j.env...), root, log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // with the server of its script
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	j.ready = places.Replace(j.ready)
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
		log.Close()
		if text, err := os.ReadFile(log.Name()); t.Failed() {
			t.Logf("the end of the log of %s (%v):\n%s", j.name, err, text[max(0, len(text)-1500):])
		}
	})
}

// get returns the lines that a URL answers with, nil if it is not there or not content.
func get(url string) (lines []string) {
	client := http.Client{Timeout: 5 * time.Second}
	a, err := client.Get(url)
	if err != nil {
		return nil
	}
	defer a.Body.Close()
	if a.StatusCode != http.StatusOK {
		return nil
	}
	lines = []string{}
	for s := bufio.NewScanner(a.Body); s.Scan(); {
		lines = append(lines, s.Text())
	}
	return lines
}

// run starts all jobs, waits until each is ready and until replay has stored a game.
func (d *deployment) run(jobs []job) {
	t := d.t
	t.Helper()
	if len(jobs) != 8 {
		t.Fatalf("found %d processes, expected three servers and five roles", len(jobs))
	}
	await := func(what string, there func() bool) {
		t.Helper()
		for deadline := time.Now().Add(patience); !there(); time.Sleep(200 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("waited %v in vain for %s", patience, what)
			}
		}
	}
	replay := ""
	for i := range jobs {
		d.start(&jobs[i])
		if jobs[i].words[1] == "replay" {
			replay = jobs[i].ready
		}
	}
	for _, j := range jobs {
		await(j.name+" to be ready at "+j.ready, func() bool { return get(j.ready) != nil })
	}
	await("a game in the replay buffer", func() bool {
		return slices.ContainsFunc(get(strings.Replace(replay, "/readyz", "/metrics", 1)), func(line string) bool {
			value, found := strings.CutPrefix(line, "selfplay_replay_games_total ")
			return found && value != "0"
		})
	})
}

// unit reads the lines KEY=VALUE of a unit.
func unit(t *testing.T, text string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		key, value, found := strings.Cut(line, "=")
		if line == "" || line[0] == '#' || line[0] == '[' {
			continue
		}
		if _, twice := all[key]; !found || twice {
			t.Fatalf("found %q, expected KEY=VALUE once in\n%s", line, text)
		}
		all[key] = value
	}
	return all
}

// metricsReady is the URL of /readyz that a role's command line makes.
func metricsReady(words []string) string {
	return "http://" + words[slices.Index(words, "--metrics")+1] + "/readyz"
}

// unitJobs are the processes of the units on all machines.
func unitJobs(t *testing.T, dir string, p Plan) (jobs []job) {
	for _, m := range slices.Concat(p.Servers, p.Roles) {
		etc := filepath.Join(dir, "machines", m.Host, "etc")
		units, err := filepath.Glob(filepath.Join(etc, "systemd", "system", "*.service"))
		if err != nil || len(units) != 1 {
			t.Fatalf("%s: found units %v, %v, expected one", m.Host, units, err)
		}
		text, err := os.ReadFile(units[0])
		if err != nil {
			t.Fatal(err)
		}
		u := unit(t, string(text))
		j := job{name: m.Name, host: m.Host, words: strings.Fields(u["ExecStart"]), mounts: map[string]string{"/var/lib/" + u["StateDirectory"]: ""}}
		for _, sub := range []string{"nats", "selfplay"} {
			files, err := filepath.Glob(filepath.Join(etc, sub, "*"))
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range files {
				j.mounts["/etc/"+sub+"/"+filepath.Base(f)] = f
			}
		}
		if j.ready = "http://127.0.0.1:8222/healthz"; u["StateDirectory"] == "selfplay" {
			j.ready = metricsReady(j.words)
		}
		jobs = append(jobs, j)
	}
	return jobs
}

// composeJobs are the services of the compose file.
func composeJobs(t *testing.T, dir string) (jobs []job) {
	for name, s := range compose(t, tree(t, dir)).Services {
		j := job{name: name, host: name, words: slices.Concat(s.Entrypoint, s.Command), mounts: map[string]string{}}
		for key, value := range s.Environment {
			j.env = append(j.env, key+"="+value)
		}
		for _, v := range s.Volumes {
			if j.mounts[v.Target] = filepath.Join(dir, v.Source); !v.ReadOnly {
				j.mounts[v.Target] = ""
			}
		}
		if j.ready = "http://127.0.0.1:8222/healthz"; path.Base(j.words[0]) == "selfplay" {
			j.ready = metricsReady(j.words)
		}
		jobs = append(jobs, j)
	}
	return jobs
}

// podJobs are the containers of all pods.
func podJobs(t *testing.T, dir string) (jobs []job) {
	k, all := manifests(t, tree(t, dir))
	content := map[string][]string{} // files of secrets and configuration by name
	for _, g := range slices.Concat(k.SecretGenerator, k.ConfigMapGenerator) {
		content[g.Name] = g.Files
	}
	for _, m := range all {
		if m.Kind != "StatefulSet" && m.Kind != "Deployment" {
			continue
		}
		var w workload
		strict(t, string(m.Spec), &w)
		for i := range w.Replicas {
			c := w.Template.Spec.Containers[0]
			j := job{name: fmt.Sprintf("%s-%d", m.Metadata.Name, i), words: slices.Concat(c.Command, c.Args), mounts: map[string]string{}}
			j.host = j.name + "." + w.ServiceName
			for _, e := range c.Env {
				if e.ValueFrom.FieldRef.FieldPath == "metadata.name" {
					e.Value = j.name
				}
				j.env = append(j.env, e.Name+"="+e.Value)
			}
			for _, mount := range c.VolumeMounts {
				at := slices.IndexFunc(w.Template.Spec.Volumes, func(v volume) bool { return v.Name == mount.Name })
				if at < 0 && len(w.VolumeClaimTemplates) == 1 && w.VolumeClaimTemplates[0].Metadata.Name == mount.Name {
					j.mounts[mount.MountPath] = ""
					continue
				}
				v := w.Template.Spec.Volumes[at]
				files := content[v.Secret.SecretName]
				for _, s := range v.Projected.Sources {
					files = slices.Concat(files, content[s.Secret.Name], content[s.ConfigMap.Name])
				}
				for _, f := range files {
					j.mounts[path.Join(mount.MountPath, path.Base(f))] = filepath.Join(dir, f)
				}
				if len(files) == 0 && mount.MountPath != "/tmp" {
					j.mounts[mount.MountPath] = ""
				}
			}
			for _, port := range c.Ports {
				if port.Name == c.ReadinessProbe.HTTPGet.Port {
					j.ready = fmt.Sprintf("http://0.0.0.0:%d%s", port.ContainerPort, c.ReadinessProbe.HTTPGet.Path)
				}
			}
			jobs = append(jobs, j)
		}
	}
	return jobs
}

// What units, compose file and manifests say is run as processes: servers with TLS and
// their users, and every role, which become ready; a game is played and stored.
func TestWrittenFilesRun(t *testing.T) {
	if testing.Short() {
		t.Skip("three clusters, each of eight processes")
	}
	programs, err := clustertest.Build(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"units", "compose", "kubernetes"} {
		t.Run(kind, func(t *testing.T) {
			address := network(t)
			p := testPlan()
			p.Roles = p.Roles[:5]
			for i := range p.Servers {
				p.Servers[i].Host = address(i)
			}
			for i := range p.Roles {
				p.Roles[i].Host = address(3 + i)
			}
			dir := t.TempDir()
			write(t, dir, p, Options{})
			d := &deployment{t: t, programs: programs, addresses: map[string]string{}}
			var jobs []job
			switch kind {
			case "units":
				jobs = unitJobs(t, dir, p)
			case "compose":
				jobs = composeJobs(t, dir)
			default:
				jobs = podJobs(t, dir)
			}
			isRole := func(j job) bool { return path.Base(j.words[0]) == "selfplay" }
			slices.SortStableFunc(jobs, func(a, b job) int { // the certificate has the servers' addresses, which are the first
				switch {
				case isRole(a) == isRole(b):
					return 0
				case isRole(a):
					return 1
				}
				return -1
			})
			for i, j := range jobs {
				d.addresses[j.host] = address(i)
			}
			d.run(jobs)
		})
	}
}
