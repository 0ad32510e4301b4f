package lab

import (
	"context"
	"fmt"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/model"
)

// JujuExec is `juju exec --unit`, and what libraries call "run on unit": a script of
// bash in the charm's directory, with a hook's tools, but with the name of no hook and
// without JUJU_DISPATCH_PATH (RunCommands of Juju's worker/uniter/runner). What it changes
// is committed where it exits with 0. It returns what the script has written to stdout.
func (l *Lab) JujuExec(ctx context.Context, u *Unit, script string) (string, error) {
	stdout, err := l.execScript(ctx, u, script)
	if err != nil {
		return stdout, fmt.Errorf("cannot run a script on %s: %w", u.name, err)
	}
	return stdout, l.settleStarted(ctx)
}

func (l *Lab) execScript(ctx context.Context, u *Unit, script string) (string, error) {
	if _, err := u.take(ctx); err != nil {
		return "", err
	}
	defer u.release()
	c := l.newContext(u, model.Hook{})
	run := l.execute(ctx, u, c, l.environment(u, c, ""), neverKill, "/bin/bash", "-c", script)
	switch {
	case run.err != nil:
		return string(run.stdout), run.err
	case run.code != 0:
		return string(run.stdout), fmt.Errorf("exit status %d: %s", run.code, run.output)
	}
	c.Commit()
	l.tellRemotes()
	return string(run.stdout), nil
}
