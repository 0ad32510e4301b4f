package agent

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/juju/names/v5"
	"github.com/juju/worker/v3"

	"github.com/juju/juju/core/machinelock"
	"github.com/juju/juju/core/secrets"
	"github.com/juju/juju/core/watcher"
	"github.com/juju/juju/downloader"
	jujusecrets "github.com/juju/juju/secrets"
	"github.com/juju/juju/worker/fortress"
)

type archives struct {
	connection *connection
	dir        string
}

// Download implements the uniter's Downloader.
func (a archives) Download(r downloader.Request) (string, error) {
	var name string
	if err := a.connection.call(a.connection.ctx, "Archive", "", "File", r.URL.String(), &name); err != nil {
		return "", err
	}
	text, err := os.ReadFile(filepath.Join(a.dir, name))
	target := filepath.Join(r.TargetDir, name)
	err = errors.Join(err, os.MkdirAll(r.TargetDir, 0o755), os.WriteFile(target, text, 0o600))
	if err != nil {
		return "", err
	}
	file, err := os.Open(target)
	if err != nil {
		return "", err
	}
	defer file.Close()
	return target, r.Verify(file)
}

// machineLock serializes hooks and actions.
type machineLock chan struct{}

// Acquire implements [machinelock.Lock].
func (l machineLock) Acquire(spec machinelock.Spec) (func(), error) {
	select {
	case l <- struct{}{}:
		return func() { <-l }, nil
	case <-spec.Cancel:
		return nil, errors.New("the agent stops")
	}
}

// Report implements [machinelock.Lock].
func (l machineLock) Report(...machinelock.ReportOption) (string, error) { return "", nil }

type openGuard struct{}

// Unlock implements [fortress.Guard].
func (openGuard) Unlock() error { return nil }

// Lockdown implements [fortress.Guard].
func (openGuard) Lockdown(fortress.Abort) error { return nil }

type noSecrets struct{}

func (noSecrets) never() (watcher.StringsWatcher, error) {
	changes := make(chan []string, 1)
	changes <- nil
	return silent{newIdle(), changes}, nil
}

type silent struct {
	*idle
	changes chan []string
}

// Changes implements [watcher.StringsWatcher].
func (s silent) Changes() watcher.StringsChannel { return s.changes }

// WatchConsumedSecretsChanges implements the uniter's SecretsClient.
func (n noSecrets) WatchConsumedSecretsChanges(string) (watcher.StringsWatcher, error) {
	return n.never()
}

// WatchObsolete implements the uniter's SecretsClient.
func (n noSecrets) WatchObsolete(...names.Tag) (watcher.StringsWatcher, error) { return n.never() }

// GetConsumerSecretsRevisionInfo implements the uniter's SecretsClient.
func (noSecrets) GetConsumerSecretsRevisionInfo(string, []string) (map[string]secrets.SecretRevisionInfo, error) {
	return map[string]secrets.SecretRevisionInfo{}, nil
}

// CreateSecretURIs implements the uniter's SecretsClient.
func (noSecrets) CreateSecretURIs(int) ([]*secrets.URI, error) { return nil, errNoSecrets }

// SecretMetadata implements the uniter's SecretsClient.
func (noSecrets) SecretMetadata() ([]secrets.SecretOwnerMetadata, error) { return nil, nil }

// SecretRotated implements the uniter's SecretsClient.
func (noSecrets) SecretRotated(string, int) error { return errNoSecrets }

var errNoSecrets = errors.New("this model has no secrets")

func noBackend() (jujusecrets.BackendsClient, error) { return nil, errNoSecrets }

func noTrigger(names.UnitTag, bool, chan []string) (worker.Worker, error) { return newIdle(), nil }

type idle struct{ killed chan struct{} }

func newIdle() *idle { return &idle{make(chan struct{})} }

// Kill implements [worker.Worker].
func (i *idle) Kill() {
	select {
	case <-i.killed:
	default:
		close(i.killed)
	}
}

// Wait implements [worker.Worker].
func (i *idle) Wait() error { <-i.killed; return nil }
