//go:build programs

package firewall_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/firewall"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// machine is a network of its own, and for ufw also the files in which it keeps its
// rules: what a test does with the real ufw stays in it.
type machine struct{ pid int }

// private gives ufw files and a lock of its own, and the loopback an address.
const private = `set -eu
mount -t tmpfs none /mnt
cp -a /etc/ufw /mnt/ufw
cp -a /etc/default/ufw /mnt/default
mount --bind /mnt/ufw /etc/ufw
mount --bind /mnt/default /etc/default/ufw
mount -t tmpfs none /run
ip link set lo up
`

// newMachine starts a machine that lasts as long as the test. Its ufw is as the
// package has it: installed, and off.
func newMachine(t *testing.T) machine {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can have a network of its own")
	}
	if _, err := exec.LookPath("ufw"); err != nil {
		t.Fatal("ufw is not installed: run tests/install-deps")
	}
	cmd := exec.CommandContext(t.Context(), "unshare", "--mount", "--net", "sh", "-c", private+"echo ready\nexec cat")
	cmd.Stderr = os.Stderr
	// It ends with the test's program: its input does.
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

func (m machine) firewall() firewall.Firewall { return firewall.Firewall{Runner: m} }

// do runs a command of a person on the machine, and returns what it says.
func (m machine) do(t *testing.T, command string) string {
	t.Helper()
	words := strings.Fields(command)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) // on a busy machine ufw takes a minute
	defer cancel()
	out, err := m.Run(ctx, run.Command{Name: words[0], Args: words[1:]})
	require.NoError(t, err, command)
	return string(out)
}

// rules are the lines of ufw's status, without numbers and columns.
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

// cable joins two machines, and gives each its addresses.
func cable(t *testing.T, a, b machine, forA, forB []string) {
	t.Helper()
	a.do(t, fmt.Sprintf("ip link add veth0 type veth peer name veth0 netns %d", b.pid))
	for m, addresses := range map[machine][]string{a: forA, b: forB} {
		m.do(t, "ip link set veth0 up")
		for _, address := range addresses {
			words := "ip addr add " + address + " dev veth0"
			if strings.Contains(address, ":") {
				words += " nodad" // or it would be tried out for a second
			}
			m.do(t, words)
		}
	}
}

// setns is the number of setns(2), which package syscall has for arm64 only.
var setns = map[string]uintptr{"amd64": 308, "arm64": 268, "ppc64le": 350, "s390x": 339}[runtime.GOARCH]

// on runs f with the network of the machine. The thread is not used again.
func (m machine) on(t *testing.T, f func()) {
	t.Helper()
	space, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", m.pid))
	require.NoError(t, err)
	defer space.Close()
	done := make(chan syscall.Errno)
	go func() {
		runtime.LockOSThread()
		_, _, failed := syscall.RawSyscall(setns, space.Fd(), syscall.CLONE_NEWNET, 0)
		if failed == 0 {
			f()
		}
		done <- failed
	}()
	require.Zero(t, <-done, "setns")
}

// listen accepts connections to the port, of any address of the machine.
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

// reaches reports whether a connection from one address to another succeeds. One
// that is refused is so at once.
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
			t.Errorf("neither let in nor refused: %v", err)
		}
	})
	return yes
}
