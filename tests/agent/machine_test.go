package agent

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ovn-central/ovn-central-operator/internal/poll"
)

// hub runs the Southbound database and everything that belongs to no unit.
const hub = 3

type machine struct {
	pid    int
	client *http.Client
}

// enter returns the nsenter command that runs a program in the namespace.
func (m *machine) enter(name string, args ...string) (nsenter string, all []string) {
	return "nsenter", slices.Concat([]string{fmt.Sprintf("--net=/proc/%d/ns/net", m.pid), "--", name}, args)
}

// newMachine makes a namespace, and a client that connects from inside it.
func (p *plane) newMachine() *machine {
	p.t.Helper()
	cmd := exec.Command("sleep", "infinity")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	require.NoError(p.t, cmd.Start())
	p.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it is always killed
	})
	m := &machine{pid: cmd.Process.Pid}
	m.client = &http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true, DialContext: m.dial}}
	return m
}

// dial connects from inside the namespace. Its thread must go back to its own namespace and not end, as Pdeathsig would
// kill its children.
func (m *machine) dial(ctx context.Context, network, address string) (c net.Conn, err error) {
	runtime.LockOSThread()
	here, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		return nil, err
	}
	defer here.Close()
	there, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", m.pid))
	if err != nil {
		return nil, err
	}
	defer there.Close()
	if err := unix.Setns(int(there.Fd()), unix.CLONE_NEWNET); err != nil {
		return nil, err
	}
	c, err = new(net.Dialer).DialContext(ctx, network, address)
	if back := unix.Setns(int(here.Fd()), unix.CLONE_NEWNET); back != nil {
		return c, back // this thread runs nothing else from now on
	}
	runtime.UnlockOSThread()
	return c, err
}

// newPlaneOnMachines returns a plane whose units each have a network that can be cut.
func newPlaneOnMachines(t *testing.T, program executable, more ...string) *plane {
	t.Helper()
	p := &plane{t: t, dir: t.TempDir(), network: "10.99.0", program: program}
	for range hub + 1 {
		p.machines = append(p.machines, p.newMachine())
	}
	lines := []string{
		"link add rack type bridge", "link set rack up", "link set lo up", "address add " + p.host(hub) + "/24 dev rack",
	}
	for n := range hub {
		lines = append(lines, fmt.Sprintf("link add unit%d type veth peer name nic netns %d", n, p.machines[n].pid),
			fmt.Sprintf("link set unit%d master rack up", n))
	}
	p.ip(hub, lines...)
	for n := range hub {
		p.ip(n, "link set lo up", "link set nic up", "address add "+p.host(n)+"/24 dev nic")
	}
	p.begin(more...)
	return p
}

func (p *plane) ip(on int, commands ...string) {
	p.t.Helper()
	name, args := p.machines[on].enter("ip", "-batch", "-")
	cmd := exec.CommandContext(p.t.Context(), name, args...)
	cmd.Stdin = strings.NewReader(strings.Join(commands, "\n") + "\n")
	out, err := cmd.CombinedOutput()
	require.NoError(p.t, err, "%s", out)
}

// filter replaces the rules by which a machine drops packets (iptables(8)).
func (p *plane) filter(on int, rules ...string) {
	p.t.Helper()
	for _, rule := range append([]string{"-F"}, rules...) {
		name, args := p.machines[on].enter("iptables", append([]string{"-w", "20"}, strings.Fields(rule)...)...)
		p.run(name, args...)
	}
}

func (p *plane) northd() {
	p.t.Helper()
	p.start(nil, "ovn-northd", "-vconsole:off", "--unixctl="+p.path("northd.ctl"),
		"--ovnnb-db="+p.servers[0].Endpoint(), "--ovnsb-db="+p.south.Endpoint())
	p.until(func() bool {
		out, err := exec.CommandContext(p.t.Context(), "ovn-appctl", "-t", p.path("northd.ctl"), "status").Output()
		return err == nil && strings.Contains(string(out), "active")
	}, "ovn-northd does not work")
}

// recomputed returns how often ovn-northd has recomputed everything (inc-engine/show-stats), including this question.
func (p *plane) recomputed() (times int) {
	p.t.Helper()
	out := p.run("ovn-appctl", "-t", p.path("northd.ctl"), "inc-engine/show-stats")
	_, rest, found := strings.Cut(out, "Node: northd\n- recompute:")
	require.True(p.t, found, out)
	_, err := fmt.Sscan(rest, &times)
	require.NoError(p.t, err)
	return times
}

// eventually and always run the condition in the test's own goroutine. testify's functions run it in another one: if it
// is still running when the time is over, its programs are killed with the test's context, and a failing require ends
// that goroutine instead of the test.

func eventually(t testing.TB, isSo func() bool, limit, pause time.Duration, why ...any) {
	t.Helper()
	for begun := time.Now(); !isSo(); require.NoError(t, poll.Wait(t.Context(), pause)) {
		require.Less(t, time.Since(begun), limit, why...)
	}
}

func always(t testing.TB, isSo func() bool, long, pause time.Duration, why ...any) {
	t.Helper()
	for begun := time.Now(); time.Since(begun) < long; require.NoError(t, poll.Wait(t.Context(), pause)) {
		require.True(t, isSo(), why...)
	}
}
