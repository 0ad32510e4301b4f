package lab

import (
	"fmt"
	"os"
	"syscall"
)

// SignalHook sends a signal to the hook or action that the unit is running, and to
// the processes that it has called: SIGKILL kills it, as [Lab.RunHookKilledAt] does; SIGSTOP
// suspends it until SIGCONT, while jobs that it gave to systemd continue. The function of
// [Unit.OnCall] may call SignalHook. If no hook or action is running the error
// wraps [os.ErrProcessDone].
func (u *Unit) SignalHook(sig syscall.Signal) error {
	if p := u.hook.Load(); p == nil || syscall.Kill(-p.Pid, sig) != nil {
		return fmt.Errorf("cannot signal a hook of %s: %w", u.name, os.ErrProcessDone)
	}
	return nil
}

// OnTool decides for each call of a hook tool that the unit's hooks and actions
// make from now on whether it fails: an error is what the tool prints, and it does
// nothing. nil ends that.
func (u *Unit) OnTool(fails func(call string) error) {
	u.tools.Store(&fails)
}

// refusal is what a tool prints that is to fail.
func (u *Unit) refusal(call string) error {
	if fails := u.tools.Load(); fails != nil && *fails != nil {
		return (*fails)(call)
	}
	return nil
}
