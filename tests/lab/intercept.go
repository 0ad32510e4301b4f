package lab

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/ovn-central/ovn-central-operator/tests/lab/internal/hooktool"
	"github.com/ovn-central/ovn-central-operator/tests/lab/internal/machine"
)

// intercepted is whether this program can play the lab's tools.
var intercepted bool

// exit ends the program at once: os.Exit of one that is built with -race takes
// a second (atexit_sleep_ms), for every hook tool.
func exit(code int) { syscall.Exit(code) }

// Intercept plays a hook tool, systemctl, a wrapper or the guard where the
// program was called by such a name, and then exits. It must be the first thing
// that a program does which uses [New].
func Intercept() {
	intercepted = true
	argv0, args := os.Args[0], os.Args[1:]
	name := filepath.Base(argv0)
	switch {
	case name == machine.GuardName:
		exit(machine.GuardMain(args))
	case name == "systemctl":
		exit(machine.SystemctlMain(argv0, args))
	case slices.Contains(machine.Traced, name):
		exit(machine.TracedMain(argv0, args))
	case slices.Contains(hooktool.Names(), name):
		exit(hooktool.Main(name, args))
	}
}
