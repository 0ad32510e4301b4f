package lab

import "github.com/ovn-central/ovn-central-operator/tests/lab/internal/machine"

// intercepted is whether this program can play the lab's tools.
var intercepted bool

// Intercept plays systemctl, another stand-in or the guard where the
// program was called by such a name, and then exits. It must be the first thing
// that a program does which uses [New].
func Intercept() {
	intercepted = true
	machine.Play()
}
