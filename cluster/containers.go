package cluster

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/crazyhouse-rl/selfplay/internal/durable"
)

// serverImage is the image of the servers: of the version that the program embeds.
const serverImage = "nats:2.15.2-alpine"

// containerUser runs everything in containers, unless somebody says otherwise.
const containerUser = 10001

// Names of what is written for containers.
const (
	composeFile   = "compose.yaml"
	envFile       = ".env" // variables of the compose file
	containersDir = "containers"
	kubernetesDir = "kubernetes"
)

// store is the room of each server.
func (p *Plan) store() string { return cmp.Or(p.Store, DefaultStore) }

// image is that of the program.
func (p *Plan) image() string { return cmp.Or(p.Image, DefaultImage) }

// longestWorkload leaves room in a label of 63 characters for what Kubernetes adds.
const longestWorkload = 52

// workload names a role's containers: its user, cut to what a label may have.
func (p *Plan) workload(m Machine) string {
	name := p.User(m)
	return strings.Trim(name[:min(len(name), longestWorkload)], "-")
}

// containerHosts are the servers' hosts in the network of a compose file.
func (p *Plan) containerHosts() (all []string) {
	for _, s := range p.Servers {
		all = append(all, containerHost(s))
	}
	return all
}

// containerHost is a server's name. One of digits alone has a word before it: Go looks up
// no such host.
func containerHost(s Machine) string {
	if strings.Trim(s.Name, "0123456789") == "" {
		return "nats-" + s.Name
	}
	return s.Name
}

// podHosts are the servers' hosts in a namespace of Kubernetes.
func (p *Plan) podHosts() (all []string) {
	for i := range p.Servers {
		all = append(all, fmt.Sprintf("nats-%d.nats", i))
	}
	return all
}

// containerRole is a role as a container.
type containerRole struct {
	Name  string // of the container
	Role  string
	Words []string // of its command line
	Dir   string   // its files of secrets, in the cluster's directory
	Port  int      // of its metrics
	Needs needs
}

// needs are what a role asks of the machine. Memory and disk are in MiB.
type needs struct {
	CPU    string // cores, as Kubernetes writes them
	Memory int
	Disk   int // 0: what it keeps is made anew at no loss
}

// roleNeeds fit the preset laptop: 2 GiB of games in the buffer and as many copied to the
// trainer.
var roleNeeds = map[string]needs{
	"trainer": {"1", 2048, 16384}, "replay": {"500m", 1024, 8192}, "gate": {"1", 512, 0}, "verify": {"500m", 512, 0}, "actor": {"1", 512, 1024},
}

func (p *Plan) containerRoles(servers []string) (all []containerRole) {
	for _, m := range p.Roles {
		all = append(all, containerRole{
			Name: p.workload(m), Role: m.Name, Words: p.words(m, servers), Dir: filepath.ToSlash(filepath.Join(machinesDir, folderOf(m.Host), "etc", "selfplay")),
			Port: ports[m.Name], Needs: roleNeeds[m.Name],
		})
	}
	return all
}

// containerData is what files for containers are written from.
type containerData struct {
	Plan        *Plan
	Image       string
	ServerImage string
	User        int
	Servers     []string // hosts
	Roles       []containerRole
	StoreGiB    int // of a server's volume
}

func (w *writer) containerData(servers []string) containerData {
	return containerData{
		Plan: w.plan, Image: w.plan.image(), ServerImage: serverImage, User: containerUser, Servers: servers,
		Roles: w.plan.containerRoles(servers), StoreGiB: storeGiB(w.plan.store()),
	}
}

// storeGiB is the room of a volume on which a store of the given size, such as 64GB, is
// never out of disk before it is full. Package nats takes a GB as 2^30 bytes.
func storeGiB(size string) int {
	digits := strings.TrimRight(size, "GTB")
	n, err := strconv.Atoi(digits)
	if err != nil {
		n = 64
	}
	if strings.HasSuffix(size, "TB") {
		n *= 1024
	}
	return n + n/8 + 1
}

// serverConfig writes the configuration that all servers in containers have, whose names
// come from their environment.
func (w *writer) serverConfig(dir string, hosts []string, pid string) error {
	text, err := render("nats.conf", serverData{
		Plan: w.plan, What: "Servers in containers", Name: "$SERVER_NAME", Hosts: hosts, Monitor: "0.0.0.0", Pid: pid, Authority: w.authority, Store: w.plan.store(),
	})
	if err != nil {
		return err
	}
	return w.putOwn(filepath.Join(dir, "nats.conf"), text)
}

// putOwn writes a file of the cluster's own directory.
func (w *writer) putOwn(name string, text []byte) error {
	path := filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return durable.WriteFile(path, text)
}

// renderOwn writes a file from its template.
func (w *writer) renderOwn(template, name string, data any) error {
	text, err := render(template, data)
	if err != nil {
		return err
	}
	return w.putOwn(name, text)
}

// containers writes a compose file, which runs the whole cluster on one machine.
func (w *writer) containers() error {
	data := w.containerData(w.plan.containerHosts())
	if err := w.serverConfig(containersDir, data.Servers, ""); err != nil {
		return err
	}
	for _, s := range data.Servers {
		if err := os.MkdirAll(filepath.Join(w.dir, containersDir, "data", s), 0o700); err != nil {
			return err
		}
	}
	for _, r := range data.Roles {
		if err := os.MkdirAll(filepath.Join(w.dir, containersDir, "data", r.Name), 0o700); err != nil {
			return err
		}
	}
	if err := w.renderOwn("compose.yaml", composeFile, data); err != nil {
		return err
	}
	user, err := w.composeUser()
	if err != nil {
		return err
	}
	if err := w.renderOwn(serverScript, filepath.Join(containersDir, serverScript), data); err != nil {
		return err
	}
	return w.putOwn(envFile, fmt.Appendf(nil, "# For %s: who runs in the containers, and must own this directory. init cluster keeps it, and takes the image from %s.\nSELFPLAY_USER=%s\nSELFPLAY_IMAGE=%s\n",
		composeFile, PlanFile, user, data.Image))
}

var userLine = regexp.MustCompile(`(?m)^SELFPLAY_USER=([0-9]+:[0-9]+)[ \t\r]*$`)

// composeUser is who runs what a compose file has: who the file of its variables says, as
// people may change that, or who writes the cluster, since who owns the files of secrets has
// to run what reads them.
func (w *writer) composeUser() (string, error) {
	text, err := os.ReadFile(filepath.Join(w.dir, envFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if found := userLine.FindSubmatch(text); found != nil {
		return string(found[1]), nil
	}
	user, group := os.Getuid(), os.Getgid()
	if user <= 0 { // root, or a system without such users
		user, group = containerUser, containerUser
	}
	return fmt.Sprintf("%d:%d", user, group), nil
}

// kubernetes writes manifests, and the kustomization that makes secrets of files.
func (w *writer) kubernetes() error {
	data := w.containerData(w.plan.podHosts())
	if err := w.serverConfig(kubernetesDir, data.Servers, "/run/nats/nats.pid"); err != nil {
		return err
	}
	for template, name := range map[string]string{
		"kustomization.yaml": "kustomization.yaml", "k8s-servers.yaml": "servers.yaml", "k8s-roles.yaml": "roles.yaml", "k8s-network.yaml": "network.yaml",
	} {
		if template != name {
			name = filepath.Join(kubernetesDir, name)
		}
		if err := w.renderOwn(template, name, data); err != nil {
			return err
		}
	}
	return nil
}
