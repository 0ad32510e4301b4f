//go:build programs

package ufw_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ovn-central/ovn-central-operator/internal/run"
	"github.com/ovn-central/ovn-central-operator/internal/ufw"
)

// ensure applies the rules, and checks that nothing differs from them.
func (m machine) ensure(t *testing.T, want ufw.Rules) {
	t.Helper()
	require.NoError(t, m.firewall().Ensure(t.Context(), want))
	drifted, err := m.firewall().Drifted(t.Context(), want)
	require.NoError(t, err)
	assert.False(t, drifted)
}

// around returns these rules for addresses, each followed by the rules for all addresses of its family.
func around(v4, v6 []string) []string {
	rules := append(slices.Clone(v4), "6642/tcp ALLOW IN Anywhere # charm-ovn-central")
	six := append(slices.Clone(v6), "6642/tcp (v6) ALLOW IN Anywhere (v6) # charm-ovn-central")
	for _, port := range []string{"6641", "6643", "6644", "16402", "16642"} {
		rules = append(rules, port+"/tcp REJECT IN Anywhere # charm-ovn-central")
		six = append(six, port+"/tcp (v6) REJECT IN Anywhere (v6) # charm-ovn-central")
	}
	return append(rules, six...)
}

func TestEnsure_ports_are_for_peers_and_clients_only(t *testing.T) {
	t.Parallel()
	unit, others := newMachine(t), newMachine(t)
	cable(t, unit, others, []string{"10.9.0.1/24", "fd09::1/64"},
		[]string{"10.9.0.2/24", "10.9.0.3/24", "10.9.0.4/24", "fd09::2/64", "fd09::3/64", "fd09::4/64"})
	ports := []int{6641, 6642, 6643, 6644, 16402, 16642, 22}
	for _, port := range ports {
		unit.listen(t, port)
	}
	unit.ensure(t, ufw.Rules{Peers: addrs("10.9.0.2", "fd09::2"), Clients: addrs("10.9.0.3", "fd09::3")})
	for host, wanted := range map[string][]int{"2": ports, "3": {6641, 6642, 16642, 22}, "4": {6642, 22}} {
		for network, to := range map[string]string{"10.9.0.": "10.9.0.1", "fd09::": "fd09::1"} {
			var reached []int
			for _, port := range ports {
				if others.reaches(t, network+host, to, port) {
					reached = append(reached, port)
				}
			}
			assert.Equal(t, wanted, reached, "from %s%s", network, host)
		}
	}
	for _, own := range []string{"10.9.0.1", "fd09::1"} {
		assert.True(t, unit.reaches(t, own, own, 6641), "a unit reaches itself")
	}
}

func TestEnsure_without_IPv6_in_ufw_changes_nothing_twice(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.do(t, "cp /etc/default/ufw /mnt/x")
	m.do(t, "sed -i s/IPV6=yes/IPV6=no/ /mnt/x")
	m.do(t, "cp /mnt/x /etc/default/ufw")
	for range 2 {
		m.ensure(t, ufw.Rules{Peers: addrs("10.0.0.2")})
	}
	all := around([]string{"6641,6643,6644,16402,16642/tcp ALLOW IN 10.0.0.2 # charm-ovn-central"}, nil)
	assert.Equal(t, all[:7], m.rules(t))
}

func TestEnsure_rules_follow_the_addresses(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	f := m.firewall()
	_, err := f.Drifted(t.Context(), ufw.Rules{})
	require.ErrorIs(t, err, ufw.ErrInactive)
	require.ErrorIs(t, f.Remove(t.Context()), ufw.ErrInactive)
	require.ErrorIs(t, f.Admit(t.Context(), nil), ufw.ErrInactive)

	// Ensure switches ufw on once, and allows what no rule forbids.
	for _, policy := range []string{"allow", "deny"} {
		m.ensure(t, ufw.Rules{})
		assert.Contains(t, m.do(t, "ufw status verbose"), "Default: "+policy+" (incoming), allow (outgoing)")
		m.do(t, "ufw default deny incoming") // the operator's choice
	}
	assert.Equal(t, around(nil, nil), m.rules(t))

	clients := addrs("10.0.0.9", "::ffff:10.0.0.8")
	for range 2 {
		m.ensure(t, ufw.Rules{Peers: addrs("10.0.0.2", "fd00::2", "10.0.0.2"), Clients: clients})
	}
	rules := around([]string{
		"6641,16642/tcp ALLOW IN 10.0.0.9 # charm-ovn-central",
		"6641,16642/tcp ALLOW IN 10.0.0.8 # charm-ovn-central",
		"6641,6643,6644,16402,16642/tcp ALLOW IN 10.0.0.2 # charm-ovn-central",
	}, []string{"6641,6643,6644,16402,16642/tcp ALLOW IN fd00::2 # charm-ovn-central"})
	assert.Equal(t, rules, m.rules(t))

	// A unit that is being removed does not know which other addresses may connect.
	require.NoError(t, f.Admit(t.Context(), addrs("10.0.0.2")))
	assert.Equal(t, rules, m.rules(t))

	// One peer is gone, another is only a client now, and a client has become a peer.
	m.ensure(t, ufw.Rules{Peers: addrs("10.0.0.9"), Clients: addrs("10.0.0.2")})
	want := []string{
		"6643,6644,16402/tcp ALLOW IN 10.0.0.9 # charm-ovn-central",
		"6641,16642/tcp ALLOW IN 10.0.0.2 # charm-ovn-central",
		"6641,16642/tcp ALLOW IN 10.0.0.9 # charm-ovn-central",
	}
	assert.Equal(t, around(want, nil), m.rules(t))
	require.NoError(t, f.Admit(t.Context(), addrs("10.0.0.3")))
	third := "6641,6643,6644,16402,16642/tcp ALLOW IN 10.0.0.3 # charm-ovn-central"
	assert.Equal(t, around(append([]string{third}, want...), nil), m.rules(t))

	// If another party's rule makes a rule void, Ensure moves the rule to the front.
	these := ufw.Rules{Clients: addrs("10.0.0.2")}
	m.do(t, "ufw prepend deny from 10.0.0.2")
	drifted, err := f.Drifted(t.Context(), these)
	require.NoError(t, err)
	assert.True(t, drifted)
	m.ensure(t, these)
	assert.Equal(t, "6641,16642/tcp ALLOW IN 10.0.0.2 # charm-ovn-central", m.rules(t)[0])
}

func TestEnsure_and_Remove_keep_rules_of_others(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.ensure(t, ufw.Rules{}) // switches ufw on
	require.NoError(t, m.firewall().Remove(t.Context()))
	for _, words := range []string{
		"allow 22/tcp comment ssh", "deny out to 10.9.9.9", "allow from 10.0.0.0/24 to any port 6641 proto tcp",
		"allow 6644/tcp comment mine", "allow in on lo to any port 6643 proto tcp comment charm-ovn-central",
		"deny from 10.0.1.3 to any port 6641,16642 proto tcp comment mine",
	} {
		m.do(t, "ufw "+words)
	}
	before := m.rules(t)
	clients := ufw.Rules{Clients: addrs("10.0.0.2", "10.0.1.2", "10.0.1.3")}
	err := m.firewall().Ensure(t.Context(), clients)
	require.ErrorContains(t, err, "run: sudo ")
	after := m.rules(t)
	assert.Subset(t, after, before)
	assert.Contains(t, after, "16642/tcp ALLOW IN 10.0.0.2 # charm-ovn-central")
	assert.Contains(t, after, "6641,16642/tcp ALLOW IN 10.0.1.2 # charm-ovn-central")
	assert.NotContains(t, after, "6644/tcp REJECT IN Anywhere # charm-ovn-central")

	// The printed command ends the conflict.
	_, command, _ := strings.Cut(err.Error(), "run: sudo ")
	m.do(t, command)
	m.ensure(t, clients)
	assert.Equal(t, "6641,16642/tcp ALLOW IN 10.0.1.3 # charm-ovn-central", m.rules(t)[0])

	others := slices.DeleteFunc(before, func(rule string) bool { return strings.Contains(rule, "10.0.1.3") })
	for range 2 {
		require.NoError(t, m.firewall().Remove(t.Context()))
		assert.ElementsMatch(t, others, m.rules(t))
	}
	assert.Contains(t, m.do(t, "ufw status"), "Status: active")
}

// machine is a network namespace with its own files for ufw, so that a test's rules stay in it.
type machine struct{ pid int }

// private gives ufw its own files and lock, and an address to the loopback interface.
const private = `set -eu
mount -t tmpfs none /mnt
cp -a /etc/ufw /mnt/ufw
cp -a /etc/default/ufw /mnt/default
mount --bind /mnt/ufw /etc/ufw
mount --bind /mnt/default /etc/default/ufw
mount -t tmpfs none /run
ip link set lo up
`

// newMachine starts a machine that lasts as long as the test. Its ufw is off, as after the installation.
func newMachine(t *testing.T) machine {
	t.Helper()
	require.Zero(t, os.Geteuid(), "only root can have a network of its own")
	if _, err := exec.LookPath("ufw"); err != nil {
		t.Fatal("ufw is not installed: run tests/install-deps")
	}
	cmd := exec.CommandContext(t.Context(), "unshare", "--mount", "--net", "sh", "-c", private+"echo ready\nexec cat")
	cmd.Stderr = os.Stderr
	// The machine ends with the test's program, since that closes the machine's input.
	_, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "ready\n", line)
	return machine{cmd.Process.Pid}
}

// Run implements [run.Runner]: the command runs on the machine.
func (m machine) Run(ctx context.Context, c run.Command) ([]byte, error) {
	args := append([]string{"--target", strconv.Itoa(m.pid), "--mount", "--net", "--", c.Name}, c.Args...)
	return run.Exec{}.Run(ctx, run.Command{Name: "nsenter", Args: args})
}

func (m machine) firewall() ufw.Firewall { return ufw.Firewall{Runner: m} }

// do runs a command on the machine, as a person would, and returns its output.
func (m machine) do(t *testing.T, command string) string {
	t.Helper()
	words := strings.Fields(command)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) // on a busy machine ufw takes a minute
	defer cancel()
	out, err := m.Run(ctx, run.Command{Name: words[0], Args: words[1:]})
	require.NoError(t, err, command)
	return string(out)
}

// rules returns the lines of ufw's status, without numbers and columns.
func (m machine) rules(t *testing.T) []string {
	t.Helper()
	var rules []string
	for line := range strings.Lines(m.do(t, "ufw status numbered")) {
		if _, rule, ok := strings.Cut(line, "] "); ok {
			rules = append(rules, strings.Join(strings.Fields(rule), " "))
		}
	}
	return rules
}

// cable connects two machines, and gives each its addresses.
func cable(t *testing.T, a, b machine, forA, forB []string) {
	t.Helper()
	a.do(t, fmt.Sprintf("ip link add veth0 type veth peer name veth0 netns %d", b.pid))
	for m, addresses := range map[machine][]string{a: forA, b: forB} {
		m.do(t, "ip link set veth0 up")
		for _, address := range addresses {
			words := "ip addr add " + address + " dev veth0"
			if strings.Contains(address, ":") {
				words += " nodad" // otherwise the kernel probes the address for a second
			}
			m.do(t, words)
		}
	}
}

// on runs f with the network of the machine. The thread is not used again.
func (m machine) on(t *testing.T, f func()) {
	t.Helper()
	space, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", m.pid))
	require.NoError(t, err)
	defer space.Close()
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		err := unix.Setns(int(space.Fd()), unix.CLONE_NEWNET) //nolint:gosec // a descriptor
		if err == nil {
			f()
		}
		done <- err
	}()
	require.NoError(t, <-done)
}

// listen accepts connections to the port, at any address of the machine.
func (m machine) listen(t *testing.T, port int) {
	t.Helper()
	m.on(t, func() {
		l, err := net.Listen("tcp", fmt.Sprintf(":%d", port)) //nolint:noctx // ends with the test
		if err != nil {
			t.Errorf("cannot listen: %v", err)
			return
		}
		t.Cleanup(func() { _ = l.Close() })
	})
}

// reaches reports whether a connection from one address to another succeeds.
func (m machine) reaches(t *testing.T, from, to string, port int) (yes bool) {
	t.Helper()
	m.on(t, func() {
		d := net.Dialer{Timeout: 5 * time.Second, LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
		conn, err := d.DialContext(t.Context(), "tcp", net.JoinHostPort(to, strconv.Itoa(port)))
		switch {
		case err == nil:
			_ = conn.Close()
			yes = true
		case !errors.Is(err, syscall.ECONNREFUSED):
			t.Errorf("neither accepted nor refused: %v", err)
		}
	})
	return yes
}
