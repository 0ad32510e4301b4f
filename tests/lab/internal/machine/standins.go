package machine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/ovn-central/ovn-central-operator/tests/lab/internal/hookclient"
)

// wrapped are the programs of OVN that have a wrapper, which tells the lab of the
// call and then becomes the real program. Wrappers are on the PATH only of hooks
// whose calls are counted.
var wrapped = []string{"ovs-appctl", "ovn-appctl", "ovsdb-tool", "ovsdb-client", "ovn-nbctl", "ovn-sbctl"}

// tool is one call of a stand-in: on which machine, with which arguments.
type tool struct {
	*Machine
	name      string
	out, errs io.Writer
}

// standIns are the programs that each machine has in place of the system's, since
// those would change the machine that the lab is on.
var standIns = map[string]func(*tool, []string) int{
	"systemctl":          (*tool).systemctl,
	"apt-get":            (*tool).aptGet,
	"apt-cache":          (*tool).aptCache,
	"add-apt-repository": (*tool).addRepository,
	"dpkg":               (*tool).dpkg,
	"dpkg-reconfigure":   (*tool).dpkgReconfigure,
	"dpkg-query":         (*tool).dpkgQuery,
	"snap":               (*tool).snap,
	"ufw":                (*tool).ufw,

	"update-alternatives": (*tool).updateAlternatives,
	"apt":                 (*tool).refuse, "apt-mark": (*tool).refuse, "apt-key": (*tool).refuse, "iptables": (*tool).refuse,
	"ip6tables": (*tool).refuse, "nft": (*tool).refuse, "service": (*tool).refuse, "invoke-rc.d": (*tool).refuse,
	"update-rc.d": (*tool).refuse, "deb-systemd-invoke": (*tool).refuse, "deb-systemd-helper": (*tool).refuse,
	"reboot": (*tool).refuse, "shutdown": (*tool).refuse, "poweroff": (*tool).refuse,
}

// inLab are the stand-ins that hooks call most. Where the program in C is there, it is
// called by these names, and the lab runs them in its own process: StandIn. They have
// nothing to do with the process that they run in. hooktool.c has the same names.
var inLab = []string{"dpkg-query", "systemctl", "ufw"}

// traced are the programs by whose names the lab's program is called on a machine:
// wrappers and stand-ins. Their calls by a hook are reported.
var traced = slices.Concat(wrapped, slices.Collect(maps.Keys(standIns)))

// refuse is a program that nothing here stands in for.
func (t *tool) refuse([]string) int {
	fmt.Fprintf(t.errs, "%s: the lab has no such program\n", t.name)
	return exitFailure
}

func (t *tool) systemctl(args []string) int {
	return t.Systemctl(context.Background(), t.out, t.errs, args)
}

// StandIn is the stand-in name, in this process. What it does is finished, whatever
// becomes of the one that asked for it.
func (m *Machine) StandIn(name string, args []string, out, errs io.Writer) int {
	run := (*tool).refuse
	if slices.Contains(inLab, name) {
		run = standIns[name]
	}
	return run(&tool{m, name, out, errs}, args)
}

// realPath is where the system has a program.
func (m *Machine) realPath(name string) (string, error) {
	return lookPath(strings.TrimPrefix(m.SystemPath(), m.BinDir()+":"), name)
}

// ofLink is the machine whose link argv0 is, looked for on the PATH as the
// caller's shell did.
func ofLink(argv0 string) (*Machine, error) {
	path, err := exec.LookPath(argv0)
	if err != nil {
		return nil, fmt.Errorf("cannot find the machine: %w", err)
	}
	return Load(filepath.Dir(filepath.Dir(path)))
}

// report tells the lab, where a hook is being run, that its charm called name.
// False means that the hook is to be killed, and nothing may be done.
func report(name string, args []string) bool {
	socket, id := os.Getenv(hookclient.SocketVariable), os.Getenv(hookclient.ContextVariable)
	if socket == "" || id == "" {
		return true
	}
	_, err := hookclient.Ask(socket, hookclient.Request{Context: id, Name: hookclient.CallReport, Args: append([]string{name}, args...)})
	return !errors.Is(err, io.EOF)
}

// tracedMain is a stand-in, or a wrapper: that one returns only where the real
// program can't be run, or must not be. argv0 is how it was called, which says whose
// machine it is on.
func tracedMain(argv0 string, args []string) int {
	name := filepath.Base(argv0)
	if !report(name, args) {
		return exitFailure
	}
	m, err := ofLink(argv0)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitFailure
	}
	if run := standIns[name]; run != nil {
		// What was asked for is finished, whatever becomes of the asker: when the hook's
		// process group is killed, this process isn't in it.
		_, _ = syscall.Setsid()
		return run(&tool{m, name, os.Stdout, os.Stderr}, args)
	}
	path, err := m.realPath(name)
	if err == nil {
		err = syscall.Exec(path, slices.Concat([]string{name}, args), os.Environ())
	}
	fmt.Fprintln(os.Stderr, err)
	return exitFailure
}
