// Command ovn-lab-tools plays, by the name it is called by, what a machine of the
// lab has in place of the system's programs: systemctl, dpkg-query and their like.
// It is a program of its own since a hook calls many of them, and this one has
// next to nothing to load. Hook tools are played by tests/lab/hooktool, and so are, for
// hooks, dpkg-query, systemctl and ufw: outside of hooks it becomes this program.
package main

import (
	"fmt"
	"os"

	"github.com/ovn-central/ovn-central-operator/tests/lab/internal/machine"
)

func main() {
	machine.Play()
	fmt.Fprintln(os.Stderr, "ovn-lab-tools: called by a name that it doesn't play")
	os.Exit(2)
}
