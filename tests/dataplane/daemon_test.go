package dataplane

import (
	"fmt"
	"path/filepath"
	"syscall"

	"github.com/ovn-central/ovn-central-operator/internal/ovsdbtest"
)

// daemon is a program that runs until the test ends, unless it is ended before.
type daemon struct {
	*ovsdbtest.Process
	world *world
	// control is the daemon's control socket.
	control string
}

// start runs a daemon in a namespace, with a directory for all of its files, and returns
// when it answers.
func (w *world) start(where *namespace, dir, program string, args ...string) *daemon {
	w.t.Helper()
	cmd := where.command(program, append([]string{"-vconsole:warn", "--log-file"}, args...)...)
	p := ovsdbtest.Run(w.t, directories(dir), cmd.Args[0], cmd.Args[1:]...)
	// ovn-controller takes no --unixctl before OVN 23.09: this is where all have it.
	d := &daemon{p, w, filepath.Join(dir, fmt.Sprintf("%s.%d.ctl", program, p.Pid))}
	d.Answers(w.t, d.control)
	return d
}

// directories have OVN and Open vSwitch keep everything in one directory, which holds the
// files of one machine.
func directories(dir string) (environment []string) {
	for _, name := range []string{"RUNDIR", "DBDIR", "SYSCONFDIR", "LOGDIR"} {
		environment = append(environment, "OVS_"+name+"="+dir, "OVN_"+name+"="+dir)
	}
	return environment
}

// kill is kill -9, and returns when the process is gone.
func (d *daemon) kill() {
	_ = d.Signal(syscall.SIGKILL) // it may be gone
	<-d.Ended
}

// exit lets a daemon tidy up and end.
func (d *daemon) exit() {
	d.world.t.Helper()
	d.world.run("ovs-appctl", "-t", d.control, "exit")
	_ = d.Wait(d.world.t)
}
