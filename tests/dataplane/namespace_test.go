package dataplane

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovsdbtest"
)

// Networks of the world, which no other namespace sees. Chassis n has the host number n in the first two. Gateways
// are in the third.
const (
	controlNetwork  = "10.0.1"
	tunnelNetwork   = "10.0.0"
	providerNetwork = "172.16.0"

	centralAddress = controlNetwork + ".254"
)

// The bridges in the hub: one for the management of chassis, and one for the traffic of Open vSwitch, which is
// tunnels and physnet1.
const (
	controlBridge = "control"
	dataBridge    = "data"
)

// namespace is a network namespace that exists as long as its process.
type namespace struct{ pid int }

func (w *world) newNamespace() *namespace {
	w.t.Helper()
	cmd := exec.Command("sleep", "infinity")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	require.NoError(w.t, cmd.Start())
	w.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed, always
	})
	n := &namespace{cmd.Process.Pid}
	w.ip(n, "link set lo up")
	return n
}

// command returns a program that runs in the namespace, in the process that is started. It ends with the test.
func (n *namespace) command(program string, args ...string) *exec.Cmd {
	cmd := exec.Command("nsenter", slices.Concat([]string{fmt.Sprintf("--net=/proc/%d/ns/net", n.pid), "--", program}, args)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd
}

func (w *world) ip(where *namespace, commands ...string) {
	w.t.Helper()
	cmd := where.command("ip", "-batch", "-")
	cmd.Stdin = strings.NewReader(strings.Join(commands, "\n") + "\n")
	w.output(cmd)
}

func (w *world) wire() {
	w.t.Helper()
	w.hub, w.outside = w.newNamespace(), w.newNamespace()
	w.ip(w.hub,
		"link add "+controlBridge+" type bridge", "link set "+controlBridge+" up", "address add "+centralAddress+"/24 dev "+controlBridge,
		"link add "+dataBridge+" type bridge", "link set "+dataBridge+" up")
	w.connect("outside", dataBridge, w.outside, "nic")
	w.ip(w.outside, "address add "+providerNetwork+".1/24 dev nic")
}

// connect plugs a namespace's interface into a bridge of the hub, at a port with the given name.
func (w *world) connect(port, bridge string, to *namespace, name string) {
	w.t.Helper()
	w.ip(w.hub,
		fmt.Sprintf("link add %s type veth peer name %s netns %d", port, name, to.pid),
		fmt.Sprintf("link set %s master %s up", port, bridge))
	w.ip(to, "link set "+name+" up")
}

// learned returns, by MAC address, the hub's port behind which the address was seen last.
func (w *world) learned() map[string]string {
	w.t.Helper()
	ports := map[string]string{}
	for line := range strings.Lines(w.output(w.hub.command("bridge", "fdb", "show", "br", dataBridge))) {
		// MAC dev PORT master BRIDGE ...
		if fields := strings.Fields(line); len(fields) > 2 && fields[1] == "dev" {
			ports[fields[0]] = fields[2]
		}
	}
	return ports
}

// daemon is a program that runs until the test ends it.
type daemon struct {
	*ovsdbtest.Process
	world *world
	// control is the daemon's control socket.
	control string
}

// start runs a daemon in a namespace, with a directory for its files. It returns when the daemon answers.
func (w *world) start(where *namespace, dir, program string, args ...string) *daemon {
	w.t.Helper()
	cmd := where.command(program, append([]string{"-vconsole:warn", "--log-file"}, args...)...)
	p := ovsdbtest.Run(w.t, directories(dir), cmd.Args[0], cmd.Args[1:]...)
	// ovn-controller has no --unixctl before OVN 23.09. All versions have their socket here.
	d := &daemon{p, w, filepath.Join(dir, fmt.Sprintf("%s.%d.ctl", program, p.Pid))}
	d.Answers(w.t, d.control)
	return d
}

// directories makes OVN and Open vSwitch keep all files of one machine in one directory.
func directories(dir string) (environment []string) {
	for _, name := range []string{"RUNDIR", "DBDIR", "SYSCONFDIR", "LOGDIR"} {
		environment = append(environment, "OVS_"+name+"="+dir, "OVN_"+name+"="+dir)
	}
	return environment
}

func (d *daemon) kill() {
	_ = d.Signal(syscall.SIGKILL) // it may be gone
	<-d.Ended
}

func (d *daemon) exit() {
	d.world.t.Helper()
	d.world.run("ovs-appctl", "-t", d.control, "exit")
	_ = d.Wait(d.world.t)
}
