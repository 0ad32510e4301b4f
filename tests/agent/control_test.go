package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/agent/report"
	"github.com/ovn-central/ovn-central-operator/internal/loopbacktest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdbtest"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/tests/harness/vault"
)

const patience = 2 * time.Minute

// plane is a control plane of three units, each with a member of NB and an agent.
type plane struct {
	t       testing.TB
	dir     string
	network string
	client  *http.Client
	agents  []*process
	servers []*ovsdbtest.Server // the members of NB
	south   *ovsdbtest.Server
	program executable
	// machines each have a network; the last one is the hub. There are none if all units are on the loopback.
	machines []*machine
}

// process is a program that a test has started.
type process struct {
	*ovsdbtest.Process
	url  string // of the agent's API
	unit string
	// client asks the agent where only its own machine can.
	client *http.Client
}

func newPlane(t testing.TB, more ...string) *plane {
	t.Helper()
	return newPlaneOf(t, tested(t), more...)
}

func newPlaneOf(t testing.TB, program executable, more ...string) *plane {
	t.Helper()
	p := &plane{
		t: t, dir: t.TempDir(), network: loopbacktest.Network(t), client: &http.Client{Timeout: 2 * time.Second},
		program: program,
	}
	t.Cleanup(p.client.CloseIdleConnections)
	p.begin(more...)
	return p
}

// newCloud returns a plane with the chassis c1, c2 and so on, and the routers r0, r1 and so on, whose gateways have the
// candidate c1.
func newCloud(t testing.TB, chassis, gateways int, more ...string) *plane {
	t.Helper()
	p := newPlane(t, more...)
	p.populate(chassis, gateways)
	return p
}

func (p *plane) begin(more ...string) {
	t := p.t
	t.Helper()
	for n := range hub {
		one := ovsdbtest.New(t, ovndb.NB, p.host(n))
		one.Timer, one.Prefix = 4*time.Second, p.prefix(n)
		p.servers = append(p.servers, one)
	}
	ovsdbtest.Form(t, p.servers...)
	p.south = ovsdbtest.New(t, ovndb.SB, p.host(hub))
	p.south.Prefix, p.south.Options = p.prefix(hub), []string{ovsdbtest.Remote("tcp:" + p.host(hub) + ":6642")}
	p.south.Standalone(t).Start(t)
	p.authority()
	for n := range 3 {
		p.agents = append(p.agents, p.agent(n, more...))
	}
}

// until waits until the condition holds.
func (p *plane) until(isSo func() bool, why ...any) {
	p.t.Helper()
	eventually(p.t, isSo, patience, 100*time.Millisecond, why...)
}

// idle requires that nothing is written to NB for two TTLs (R17).
func (p *plane) idle() {
	p.t.Helper()
	before := p.database().Committed()
	always(p.t, func() bool { return p.database().Committed() == before }, 2*ttl, ttl/4, "commits without an event")
}

func (p *plane) path(name string) string { return filepath.Join(p.dir, name) }
func (p *plane) host(n int) string       { return fmt.Sprintf("%s.%d", p.network, n+1) }

// local returns the address at which a unit's agent answers programs of its own machine.
func (p *plane) local(n int) string {
	if p.machines != nil {
		return "127.0.0.1"
	}
	return p.host(n)
}

func (p *plane) southbound() string {
	if p.machines != nil {
		return "tcp:" + p.host(hub) + ":6642"
	}
	return p.south.Endpoint()
}

func (p *plane) run(name string, args ...string) string {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	require.NoError(p.t, err, "%s", out)
	return string(out)
}

func (p *plane) start(env []string, name string, args ...string) *process {
	p.t.Helper()
	return p.startOn(hub, env, name, args...)
}

// startOn starts a program on a unit's machine, if units have any.
func (p *plane) startOn(unit int, env []string, name string, args ...string) *process {
	p.t.Helper()
	one := &process{client: p.client}
	if p.machines != nil {
		name, args = p.machines[unit].enter(name, args...)
		one.client = p.machines[unit].client
	}
	one.Process = ovsdbtest.Run(p.t, env, name, args...)
	return one
}

// prefix returns the command that runs a server on a unit's machine, if units have any.
func (p *plane) prefix(unit int) []string {
	// A server whose files may not grow should get an error, and not be killed.
	prefix := []string{"env", "--ignore-signal=SIGXFSZ"}
	if p.machines != nil {
		name, args := p.machines[unit].enter(prefix[0], prefix[1:]...)
		prefix = append([]string{name}, args...)
	}
	return prefix
}

// agent starts the agent of a unit. It speaks TLS to the other agents.
func (p *plane) agent(n int, more ...string) *process {
	p.t.Helper()
	args := []string{
		"agent", "--unit", fmt.Sprintf("ovn-central/%d", n), "--nb", p.servers[n%hub].Endpoint(), "--sb", p.southbound(),
		"--private-key", p.path("key"), "--certificate", p.path("cert"), "--ca-cert", p.path("ca"),
		"--listen", p.local(n) + ":16401", "--peer-listen", p.host(n) + ":16402",
	}
	for other := range 3 {
		if other != n {
			args = append(args, "--peer", p.host(other)+":16402")
		}
	}
	args = append(args, more...)
	environment := append(slices.Clone(p.program.environment), "OVN_RUNDIR="+p.runDir(n), "OVN_DBDIR="+p.runDir(n))
	one := p.startOn(min(n, hub), environment, p.program.path, args...)
	one.url, one.unit = "http://"+p.local(n)+":16401", fmt.Sprintf("ovn-central/%d", n)
	return one
}

// runDir returns the directory in which the unit's agent finds the control socket of its member of NB, if there are
// machines.
func (p *plane) runDir(n int) string {
	p.t.Helper()
	dir := p.path(fmt.Sprintf("run%d", n))
	if p.machines == nil {
		return dir
	}
	require.NoError(p.t, os.MkdirAll(dir, 0o700))
	socket := ovndb.Paths{Run: dir}.Control(ovndb.NB)
	if _, err := os.Lstat(socket); err != nil { // unless an earlier agent has made it
		require.NoError(p.t, os.Symlink(p.servers[n].Control(), socket))
	}
	return dir
}

func (p *plane) authority() {
	p.t.Helper()
	ca := vault.New("CA")
	certificate, key := ca.Issue("unit", nil, time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	for name, text := range map[string]string{"ca": ca.PEM(), "cert": certificate, "key": key} {
		require.NoError(p.t, os.WriteFile(p.path(name), []byte(text), 0o600))
	}
}

// get returns an agent's answer; it is empty if there is none.
func (p *plane) get(a *process, path string) string {
	r, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, a.url+path, http.NoBody)
	if err != nil {
		return ""
	}
	response, err := a.client.Do(r)
	if err != nil {
		return ""
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		return ""
	}
	return strings.TrimSpace(string(body))
}

func (p *plane) name(a *process) string {
	var said struct{ Name string }
	if json.Unmarshal([]byte(p.get(a, "/")), &said) != nil {
		return ""
	}
	return said.Name
}

func (p *plane) status(a *process) (s report.Status) {
	_ = json.Unmarshal([]byte(p.get(a, "/status")), &s) // empty if the agent does not answer
	return s
}

// holder waits until one of the agents acts and all of them name it, and returns it.
func (p *plane) holder(agents ...*process) (holder *process) {
	p.t.Helper()
	p.until(func() bool {
		acting := 0
		for _, a := range agents {
			if p.status(a).Acts {
				acting, holder = acting+1, a
			}
		}
		return acting == 1 && p.all(agents, holder.unit)
	}, "not one agent acts")
	return holder
}

// calm reports whether the agent has nothing to schedule, now or later.
func (p *plane) calm(a *process) bool {
	s := p.status(a).Gateways
	return s.LookedSecondsAgo >= 0 && len(s.HeldDown)+len(s.Advice)+s.Planned == 0
}

// looks waits until the agent has read the databases again.
func (p *plane) looks(a *process) {
	p.t.Helper()
	begun := time.Now()
	p.until(func() bool {
		ago := p.status(a).Gateways.LookedSecondsAgo
		return ago >= 0 && ago < time.Since(begun).Seconds()
	}, "it does not read the databases")
}

func (p *plane) all(agents []*process, unit string) bool {
	for _, a := range agents {
		if p.name(a) != unit {
			return false
		}
	}
	return true
}

// but returns the other agents.
func (p *plane) but(a *process) (others []*process) {
	for _, other := range p.agents {
		if other != a {
			others = append(others, other)
		}
	}
	return others
}

func (p *plane) database() raft.Status {
	p.t.Helper()
	status, err := raft.Parse(p.run("ovs-appctl", "-t", p.servers[0].Control(), "cluster/status", "OVN_Northbound"))
	require.NoError(p.t, err)
	return status
}
