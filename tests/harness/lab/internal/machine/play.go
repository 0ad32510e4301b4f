package machine

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/hooktool"
)

// Play plays systemctl, another replaced program, a wrapper, the guard or an init if this
// program was called by such a name, and then ends it. Otherwise it returns.
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

// exit ends the program at once: os.Exit of one that is built with -race takes
// a second (atexit_sleep_ms), for every program.
func exit(code int) { syscall.Exit(code) }
