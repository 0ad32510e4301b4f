package machine

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/ovn-central/ovn-central-operator/tests/lab/internal/hooktool"
)

// Traced are the programs of OVN that have a wrapper, which tells the lab of the
// call and then becomes the real program. Wrappers are on the PATH only of hooks
// whose calls are counted.
var Traced = []string{"ovs-appctl", "ovn-appctl", "ovsdb-tool", "ovsdb-client", "ovn-nbctl", "ovn-sbctl"}

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
	socket, id := os.Getenv(hooktool.SocketVariable), os.Getenv(hooktool.ContextVariable)
	if socket == "" || id == "" {
		return true
	}
	_, err := hooktool.Ask(socket, hooktool.Request{Context: id, Name: hooktool.CallReport, Args: append([]string{name}, args...)})
	return !errors.Is(err, io.EOF)
}

// TracedMain is the wrapper: it returns only where the real program can't be
// run, or must not be.
func TracedMain(argv0 string, args []string) int {
	name := filepath.Base(argv0)
	if !report(name, args) {
		return exitFailure
	}
	m, err := ofLink(argv0)
	if err == nil {
		var path string
		if path, err = lookPath(m.SystemPath(), name); err == nil {
			err = syscall.Exec(path, slices.Concat([]string{name}, args), os.Environ())
		}
	}
	fmt.Fprintln(os.Stderr, err)
	return exitFailure
}
