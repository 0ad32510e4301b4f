// Command ovn-lab-tools plays, by the name it is called by, what a machine of the lab has in place of the system's
// programs, if no hook calls it: systemctl, dpkg-query and their like; and the machine's init. It is a program of its
// own since there are many of them, and this one has next to nothing to load.
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
