package agent

import (
	"errors"
	"strings"

	"github.com/juju/juju/worker/uniter/runner"
	hookcontext "github.com/juju/juju/worker/uniter/runner/context"
)

// recorder is Juju's hook runner; it reports what it ran to the controller.
type recorder struct {
	runner.Runner
	connection *connection
}

func (c *connection) newRunner(context hookcontext.Context, paths hookcontext.Paths, remote runner.ExecFunc) runner.Runner {
	return recorder{runner.NewRunner(context, paths, remote), c}
}

// RunHook implements [runner.Runner].
func (r recorder) RunHook(name string) (runner.HookHandlerType, error) {
	unit, _ := r.Context().RemoteUnitName()
	entry := strings.TrimSpace(name + " " + unit)
	r.tell("Runs", entry)
	handler, err := r.Runner.RunHook(name)
	switch {
	case errors.Is(err, runner.ErrTerminated):
		entry += " (killed)"
	case err != nil:
		entry += " (failed)"
	}
	r.tell("Ran", entry)
	return handler, err
}

// tell reports for people and tests: a hook counts without that.
func (r recorder) tell(what, entry string) {
	_ = r.connection.call(r.connection.ctx, "Runner", "", what, entry, nil)
}
