// Command ovn-lab-tools is what a machine of the lab has in place of the system's programs (systemctl, dpkg-query and
// their like) when no hook calls them, and the machine's init. It is a separate program because many of it run, and it
// loads little.
package main

import (
	"fmt"
	"os"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/machine"
)

func main() {
	machine.Play()
	fmt.Fprintln(os.Stderr, "ovn-lab-tools: called by a name that it doesn't play")
	os.Exit(2)
}
