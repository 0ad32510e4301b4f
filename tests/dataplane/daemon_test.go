package dataplane

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/stretchr/testify/require"
)

// daemon is a program that runs until the test ends, unless it is ended before.
type daemon struct {
	world   *world
	process *os.Process
	ended   chan struct{}
	// control is the socket by which it is told something.
	control string
}

// start runs a daemon in a namespace, with a directory for all of its files, and returns
// when it answers.
func (w *world) start(where *namespace, dir, program string, args ...string) *daemon {
	w.t.Helper()
	cmd := where.command(program, append([]string{"-vconsole:warn", "--log-file"}, args...)...)
	cmd.Env = append(os.Environ(), directories(dir)...)
	var said bytes.Buffer
	cmd.Stderr = &said
	require.NoError(w.t, cmd.Start())
	// ovn-controller takes no --unixctl before OVN 23.09: this is where all have it.
	d := &daemon{w, cmd.Process, make(chan struct{}), filepath.Join(dir, fmt.Sprintf("%s.%d.ctl", program, cmd.Process.Pid))}
	go func() {
		defer close(d.ended)
		_ = cmd.Wait() // killed, mostly
	}()
	w.t.Cleanup(d.kill)
	w.eventually(program+" answers", func() string {
		select {
		case <-d.ended:
			require.Fail(w.t, program+" has ended", said.String())
		default:
		}
		out, err := exec.CommandContext(w.t.Context(), "ovs-appctl", "-t", d.control, "version").CombinedOutput()
		if err != nil {
			return string(out)
		}
		return ""
	})
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
	_ = d.process.Kill()
	<-d.ended
}

// exit lets a daemon tidy up and end.
func (d *daemon) exit() {
	d.world.t.Helper()
	d.world.run("ovs-appctl", "-t", d.control, "exit")
	select {
	case <-d.ended:
	case <-time.After(patience):
		require.Fail(d.world.t, "a daemon does not end", d.control)
	}
}
