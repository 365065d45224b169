package cluster

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/internal/durable"
)

// Names in the directory of a cluster.
const (
	PlanFile    = "cluster.json"
	keysDir     = "keys"
	machinesDir = "machines"

	serverScript = "server.sh" // runs a server, and is its supervisor
)

//go:embed templates
var templates embed.FS

var parsed = template.Must(template.New("").Funcs(template.FuncMap{
	"port":     func(role string) int { return ports[role] },
	"add":      func(a, b int) int { return a + b },
	"ref":      func(i int) string { return string(rune('A' + i)) },
	"q":        strconv.Quote,
	"hostport": func(host string, port int) string { return net.JoinHostPort(host, strconv.Itoa(port)) },
}).ParseFS(templates, "templates/*"))

// ports are those at which roles answer monitoring.
var ports = map[string]int{"trainer": 9101, "replay": 9102, "gate": 9103, "verify": 9104, "actor": 9105}

// Options say how a plan is written.
type Options struct {
	RenewTLS bool      // make a new certificate of the servers in any case
	Now      time.Time // when certificates begin
}

// ReadPlan reads the plan of a directory; found is false if there is none.
func ReadPlan(dir string) (p Plan, found bool, err error) {
	name := filepath.Join(dir, PlanFile)
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return p, false, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err == nil {
		err = p.Check()
	}
	if err != nil {
		return p, true, fmt.Errorf("%s: %w", name, err)
	}
	return p, true, nil
}

// writer writes one cluster.
type writer struct {
	dir       string
	plan      *Plan
	opt       Options
	authority authority
	until     time.Time // of the servers' certificate
}

// Write writes everything that a plan needs into a directory. Keys that are there stay,
// and so do certificates that are good for another 30 days, and what is signed and says the
// same; all else is written again. Nothing is written if a key of a cluster is missing that
// cannot be made anew. The error wraps ErrPlan if the plan cannot be carried out.
func Write(dir string, p Plan, o Options) error {
	if err := p.Check(); err != nil {
		return err
	}
	if err := unused(dir); err != nil {
		return err
	}
	if err := checkKeys(dir); err != nil {
		return err
	}
	w := &writer{dir: dir, plan: &p, opt: o}
	for _, d := range []string{keysDir, machinesDir} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			return err
		}
	}
	keys := filepath.Join(dir, keysDir)
	id, err := openIdentities(keys)
	if err != nil {
		return err
	}
	if w.authority, err = id.authority(keys, p.Run); err != nil {
		return err
	}
	if w.until, err = writeCertificates(dir, keys, p.names(), o.RenewTLS, o.Now); err != nil {
		return err
	}
	steps := []func() error{w.servers, func() error { return w.roles(&id) }, func() error { return w.own(&id) }, w.containers, w.kubernetes, w.monitoring, w.readme, w.savePlan}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// names are those that the servers' certificate has to be of.
func (p *Plan) names() []string {
	names := []string{"localhost", "127.0.0.1"}
	for _, n := range slices.Concat(p.hosts(), p.containerHosts(), p.podHosts()) {
		if !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return names
}

// etc is the path of a file below /etc of a machine. Its directory is made.
func (w *writer) etc(host, name string) (string, error) {
	p := filepath.Join(w.dir, machinesDir, folderOf(host), "etc", filepath.FromSlash(name))
	return p, os.MkdirAll(filepath.Dir(p), 0o755)
}

// folderOf is the name of a machine's directory.
func folderOf(host string) string { return strings.ReplaceAll(host, ":", "-") }

// put writes a file below /etc of a machine.
func (w *writer) put(host, name string, text []byte, private bool) error {
	p, err := w.etc(host, name)
	if err != nil {
		return err
	}
	if private {
		return durable.WritePrivate(p, text)
	}
	return durable.WriteFile(p, text)
}

func render(name string, data any) ([]byte, error) {
	var b bytes.Buffer
	err := parsed.ExecuteTemplate(&b, name, data)
	return b.Bytes(), err
}

// copyTo copies a file of the cluster's directory to a machine.
func (w *writer) copyTo(from, host, name string, private bool) error {
	text, err := os.ReadFile(filepath.Join(w.dir, from))
	if err != nil {
		return err
	}
	return w.put(host, name, text, private)
}

// serverData is what the configuration of a server is written from.
type serverData struct {
	Plan      *Plan
	What      string   // server it is, for people
	Name      string   // as nats.conf has it: in quotes, or a variable
	Hosts     []string // of all servers
	Monitor   string   // address for health and figures
	Pid       string   // file of the process's id; empty: none
	Authority authority
	Store     string
}

func (w *writer) servers() error {
	for _, s := range w.plan.Servers {
		data := serverData{Plan: w.plan, What: "Server " + s.Name, Name: strconv.Quote(s.Name), Hosts: w.plan.hosts(), Monitor: "127.0.0.1", Authority: w.authority, Store: w.plan.store()}
		for file, name := range map[string]string{"nats.conf": "nats/nats.conf", "nats-server.service": "systemd/system/nats-server.service", serverScript: "nats/" + serverScript} {
			text, err := render(file, data)
			if err == nil {
				err = w.put(s.Host, name, text, false)
			}
			if err != nil {
				return err
			}
		}
		for _, f := range []struct {
			from, name string
			private    bool
		}{{authorityFile, authorityFile, false}, {path.Join(keysDir, serverFile), serverFile, false}, {path.Join(keysDir, serverKey), serverKey, true}} {
			if err := w.copyTo(f.from, s.Host, "nats/"+f.name, f.private); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *writer) roles(id *identities) error {
	for _, m := range w.plan.Roles {
		rights, err := w.plan.rights(m)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrPlan, err)
		}
		creds, err := w.etc(m.Host, "selfplay/"+m.Name+".creds")
		if err == nil {
			err = writeUser(creds, w.plan.User(m), w.authority.Account, id.users, rights)
		}
		if err == nil {
			err = w.copyTo(authorityFile, m.Host, "selfplay/"+authorityFile, false)
		}
		if err != nil {
			return err
		}
		text, err := render("role.service", struct {
			Plan    *Plan
			Role    Machine
			Command string
		}{w.plan, m, w.plan.Command(m)})
		if err == nil {
			err = w.put(m.Host, "systemd/system/selfplay-"+m.Name+".service", text, false)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Command is the command line of a role on its machine, without the program.
func (p *Plan) Command(m Machine) string { return strings.Join(p.words(m, p.hosts()), " ") }

// words are those of a role's command line, with these hosts of the servers.
func (p *Plan) words(m Machine, servers []string) []string {
	words := []string{m.Name, "--nats", urlOf(servers), "--run", p.Run, "--dir", "/var/lib/selfplay/" + m.Name,
		"--creds", "/etc/selfplay/" + m.Name + ".creds", "--tls-ca", "/etc/selfplay/" + authorityFile, "--metrics", "0.0.0.0:" + strconv.Itoa(ports[m.Name])}
	switch m.Name {
	case "trainer":
		words = append(words, "--set", "run.id="+p.ID, "--set", "bus.replicas="+strconv.Itoa(p.Replicas()))
	case "actor":
		words = append(words, "--set", "actor.name="+p.ActorName(m))
	}
	return words
}

// own writes the credentials of who runs the cluster.
func (w *writer) own(id *identities) error {
	rights, err := bus.RightsOf("operator", w.plan.ID, "")
	if err != nil {
		return err
	}
	if err := writeUser(filepath.Join(w.dir, "operator.creds"), "operator", w.authority.Account, id.users, rights); err != nil {
		return err
	}
	return writeUser(filepath.Join(w.dir, "system.creds"), "system", "", id.system, rights)
}

// may says in words what the users of a role may do.
var may = map[string]string{
	"actor":   "publish games under its own name, ask which of them are stored, say that it is there; read nets, pointers and settings",
	"replay":  "read and acknowledge games, make streams, answer for the buffer; read nets, pointers and settings",
	"trainer": "begin the run, write its settings, nets and pointers, make streams; it does not read games from the stream",
	"gate":    "move the pointers to nets, hand out and play the games of matches; read nets, pointers and who is there",
	"verify":  "ask replay for games and have an actor excluded; read nets, pointers and settings",
}

func (w *writer) readme() error {
	type row struct{ Host, What, Name, May string }
	data := struct {
		Plan      *Plan
		Image     string
		StoreGiB  int // of a server's volume
		URL       string
		CertUntil time.Time
		Machines  []row
		Users     []row
	}{Plan: w.plan, Image: w.plan.image(), StoreGiB: storeGiB(w.plan.store()), URL: w.plan.URL(), CertUntil: w.until}
	add := func(host, what string) {
		if i := slices.IndexFunc(data.Machines, func(r row) bool { return r.Host == host }); i >= 0 {
			data.Machines[i].What += ", " + what
			return
		}
		data.Machines = append(data.Machines, row{Host: host, What: what})
	}
	for _, s := range w.plan.Servers {
		add(s.Host, "server "+s.Name)
	}
	for _, m := range w.plan.Roles {
		add(m.Host, m.Name)
		data.Users = append(data.Users, row{Name: w.plan.User(m), May: may[m.Name]})
	}
	text, err := render("README.md", data)
	if err != nil {
		return err
	}
	return durable.WriteFile(filepath.Join(w.dir, "README.md"), text)
}

// readmeTitle begins the README.md of every cluster.
const readmeTitle = "# The cluster of run "

// unused returns an error that wraps ErrPlan if a directory without a plan has somebody's
// README.md. That of a command that was interrupted is ours.
func unused(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, PlanFile)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	name := filepath.Join(dir, "README.md")
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && bytes.HasPrefix(text, []byte(readmeTitle)) {
		return nil
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("%w: %s: found a file that init cluster has not written, expected none: choose another directory", ErrPlan, name)
}

// savePlan comes last: a plan that is there has been carried out.
func (w *writer) savePlan() error {
	text, err := json.MarshalIndent(w.plan, "", "  ")
	if err != nil {
		return err
	}
	return durable.WriteFile(filepath.Join(w.dir, PlanFile), append(text, '\n'))
}
