// Command ovn-lab-tools is the init of a machine of the lab, and replaces the system's programs there (systemctl,
// dpkg-query and others) when no hook calls them. It is a separate program, which loads little, because many of it
// run.
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
