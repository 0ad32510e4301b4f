// Package agent is the agent of one unit: Juju's own uniter, with its resolvers, its hook runner and its hook tools, over
// a connection to [controller.Controller] instead of a Juju controller's API.
package agent

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/juju/clock"
	"github.com/juju/juju/agent/tools"
	"github.com/juju/juju/api/agent/uniter"
	"github.com/juju/juju/core/leadership"
	"github.com/juju/juju/core/model"
	jujuos "github.com/juju/juju/core/os"
	"github.com/juju/juju/rpc/params"
	jujuworker "github.com/juju/juju/worker"
	"github.com/juju/juju/worker/common/reboot"
	tracker "github.com/juju/juju/worker/leadership"
	jujuuniter "github.com/juju/juju/worker/uniter"
	"github.com/juju/juju/worker/uniter/charm"
	"github.com/juju/juju/worker/uniter/operation"
	"github.com/juju/juju/worker/uniter/runner"
	hookcontext "github.com/juju/juju/worker/uniter/runner/context"
	"github.com/juju/loggo"
	"github.com/juju/names/v5"

	"github.com/ovn-central/ovn-central-operator/tests/system/conformance/controller"
)

// Config is the configuration of a unit's agent.
type Config struct {
	// Unit is the unit's name.
	Unit string
	// DataDir has everything of the unit: /var/lib/juju.
	DataDir string
	// RunDir is emptied by a reboot. An agent that finds it empty tells the charm of a reboot, as Juju does.
	RunDir string
	// ControllerDir is the controller's directory, with its socket and the charm's archives.
	ControllerDir string
	// HookTool is a built cmd/juju-hook-tool.
	HookTool string
	// Retry is how failed hooks are retried.
	Retry params.RetryStrategy
}

// Run is the agent's main function. It returns nil when the unit is removed, or once ctx and all running hooks have
// ended.
func Run(ctx context.Context, c Config) error {
	// Charms run on Ubuntu, whatever this machine runs: their environment depends on it.
	jujuos.HostOS = func() jujuos.OSType { return jujuos.Ubuntu }
	tag := names.NewUnitTag(c.Unit)
	if err := c.prepare(tag); err != nil {
		return fmt.Errorf("cannot start the agent of %s: %w", c.Unit, err)
	}
	calls, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	random := make([]byte, 8)
	_, _ = rand.Read(random)
	connection := &connection{ctx: calls, remote: controller.Dial(c.ControllerDir), unit: c.Unit, agent: hex.EncodeToString(random)}
	go connection.stay()
	go connection.beat()
	resources, err := uniter.NewResourcesFacadeClient(connection, tag)
	if err != nil {
		return err
	}
	leader := tracker.NewTracker(tag, connection, clock.WallClock, claimDuration)
	defer func() { leader.Kill(); _ = leader.Wait() }()
	logger := loggo.GetLogger("juju.worker.uniter")
	u, err := jujuuniter.NewUniter(&jujuuniter.UniterParams{
		UniterFacade:            uniter.NewState(connection, tag),
		ResourcesFacade:         resources,
		PayloadFacade:           uniter.NewPayloadFacadeClient(connection),
		SecretsClient:           noSecrets{},
		SecretsBackendGetter:    noBackend,
		UnitTag:                 tag,
		ModelType:               model.IAAS,
		LeadershipTrackerFunc:   func(names.UnitTag) leadership.TrackerWorker { return leader },
		SecretRotateWatcherFunc: noTrigger,
		SecretExpiryWatcherFunc: noTrigger,
		DataDir:                 c.DataDir,
		Downloader:              archives{connection, c.ControllerDir},
		MachineLock:             make(machineLock, 1),
		CharmDirGuard:           openGuard{},
		UpdateStatusSignal:      connection.updateStatus(),
		HookRetryStrategy:       c.Retry,
		NewOperationExecutor:    operation.NewExecutor,
		NewDeployer:             charm.NewDeployer,
		NewProcessRunner:        connection.newRunner,
		Clock:                   clock.WallClock,
		RebootQuerier:           reboot.NewMonitor(c.RunDir),
		Logger:                  logger,
	})
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, u.Kill)
	defer stop()
	err = u.Wait()
	if errors.Is(err, jujuworker.ErrTerminateAgent) {
		return nil
	}
	return err
}

// prepare makes the files that jujud's installation makes before a unit agent starts.
func (c Config) prepare(tag names.UnitTag) error {
	dir := tools.ToolsDir(c.DataDir, tag.String())
	for _, one := range []string{dir, c.RunDir} {
		if err := os.MkdirAll(one, 0o755); err != nil {
			return err
		}
	}
	link := filepath.Join(dir, "jujuc")
	if err := os.Remove(link); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Symlink(c.HookTool, link)
}

// recorder is Juju's hook runner. It reports the hooks that it has run to the controller.
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

func (r recorder) tell(what, entry string) {
	_ = r.connection.call(r.connection.ctx, "Runner", "", what, entry, nil)
}
