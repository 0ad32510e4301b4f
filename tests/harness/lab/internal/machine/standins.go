package machine

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/hooktool"
)

// wrapped are OVN's programs that have a wrapper. A wrapper notifies the lab of the call and then becomes the real
// program. Wrappers are on the PATH only of hooks whose calls are counted.
var wrapped = []string{"ovs-appctl", "ovn-appctl", "ovsdb-tool", "ovsdb-client", "ovn-nbctl", "ovn-sbctl"}

// tool is one call of a replaced program.
type tool struct {
	*Machine
	name      string
	out, errs io.Writer
}

// standIns replace, on each machine, the system's programs that would change the host.
var standIns = map[string]func(*tool, []string) int{
	"systemctl":           (*tool).systemctl,
	"apt-get":             (*tool).aptGet,
	"apt-cache":           (*tool).aptCache,
	"dpkg":                (*tool).dpkg,
	"dpkg-reconfigure":    (*tool).dpkgReconfigure,
	"snap":                (*tool).snap,
	"ufw":                 (*tool).ufw,
	"update-alternatives": (*tool).updateAlternatives,

	"add-apt-repository": (*tool).refuse,
	"apt":                (*tool).refuse, "apt-mark": (*tool).refuse, "apt-key": (*tool).refuse, "iptables": (*tool).refuse,
	"ip6tables": (*tool).refuse, "nft": (*tool).refuse, "service": (*tool).refuse, "invoke-rc.d": (*tool).refuse,
	"update-rc.d": (*tool).refuse, "deb-systemd-invoke": (*tool).refuse, "deb-systemd-helper": (*tool).refuse,
	"reboot": (*tool).refuse, "shutdown": (*tool).refuse, "poweroff": (*tool).refuse,
}

func (t *tool) refuse([]string) int {
	fmt.Fprintf(t.errs, "%s: the lab has no such program\n", t.name)
	return exitFailure
}

func (t *tool) systemctl(args []string) int {
	said := t.Systemctl(context.Background(), args)
	fmt.Fprint(t.out, said.Out)
	fmt.Fprint(t.errs, said.Errors)
	return said.Code
}

// Answer runs a replaced program for a hook, in this process. It finishes its work, whatever happens to the caller.
// If the program has a wrapper, the caller must run that program itself.
func (m *Machine) Answer(r hooktool.Request) hooktool.Response {
	if slices.Contains(wrapped, r.Name) {
		path, err := m.realPath(r.Name)
		if err != nil {
			return hooktool.Response{Code: exitFailure, Stderr: err.Error() + "\n"}
		}
		return hooktool.Response{Stdout: path, Wants: hooktool.WantsExec}
	}
	run := standIns[r.Name]
	if run == nil {
		run = (*tool).refuse
	}
	var out, errs strings.Builder
	code := run(&tool{m, r.Name, &out, &errs}, r.Args)
	return hooktool.Response{Code: code, Stdout: out.String(), Stderr: errs.String()}
}

func (m *Machine) realPath(name string) (string, error) {
	return lookPath(strings.TrimPrefix(m.SystemPath(), m.BinDir()+":"), name)
}

// ofLink returns the machine whose link argv0 is, found on the PATH as the caller's shell did.
func ofLink(argv0 string) (*Machine, error) {
	path, err := exec.LookPath(argv0)
	if err != nil {
		return nil, fmt.Errorf("cannot find the machine: %w", err)
	}
	return Load(filepath.Dir(filepath.Dir(path)))
}

// outside runs a replaced program that no hook calls, or a wrapper that a hook has left. A wrapper returns only if
// the real program can't be run. argv0 shows the machine.
func outside(argv0 string, args []string) int {
	m, err := ofLink(argv0)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitFailure
	}
	name := filepath.Base(argv0)
	if run := standIns[name]; run != nil {
		return run(&tool{m, name, os.Stdout, os.Stderr}, args)
	}
	path, err := m.realPath(name)
	if err == nil {
		err = syscall.Exec(path, slices.Concat([]string{name}, args), os.Environ())
	}
	fmt.Fprintln(os.Stderr, err)
	return exitFailure
}

// Play runs the program by whose name this one was called: systemctl, a replaced program, the guard or an init. If
// there is none, it returns.
func Play() {
	argv0, args := os.Args[0], os.Args[1:]
	name := filepath.Base(argv0)
	switch {
	case name == guardName && len(args) == 1:
		exit(guardMain(args[0]))
	case name == initName && len(args) == 1:
		exit(initMain(args[0]))
	case standIns[name] != nil || slices.Contains(wrapped, name):
		exit(outside(argv0, args))
	case slices.Contains(hooktool.Names(), name):
		fmt.Fprintf(os.Stderr, "ERROR %s not set\n", hooktool.ContextVariable) // or its hook has ended
		exit(exitFailure)
	}
}

// exit ends the program at once: with -race os.Exit takes a second (atexit_sleep_ms).
func exit(code int) { syscall.Exit(code) }
