package machine

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/ovn-central/ovn-central-operator/tests/lab/internal/hookclient"
	"github.com/ovn-central/ovn-central-operator/tests/lab/internal/hooktool"
)

// Play plays a hook tool, systemctl, a stand-in, a wrapper or the guard where this
// program was called by such a name, and then ends it. Otherwise it returns.
func Play() {
	argv0, args := os.Args[0], os.Args[1:]
	name := filepath.Base(argv0)
	switch {
	case name == guardName:
		exit(guardMain(args))
	case slices.Contains(traced, name):
		exit(tracedMain(argv0, args))
	case slices.Contains(hooktool.Names(), name):
		exit(hookclient.Main(name, args))
	}
}

// exit ends the program at once: os.Exit of one that is built with -race takes
// a second (atexit_sleep_ms), for every hook tool.
func exit(code int) { syscall.Exit(code) }
