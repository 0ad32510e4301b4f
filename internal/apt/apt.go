package apt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/poll"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// ErrLocked is returned if another process still holds a lock of the package tools after Patience.
var ErrLocked = errors.New("packages are locked by another process")

// aptError returns the errors in the output of apt and dpkg, without warnings.
type aptError struct {
	text string
	err  error
}

func (e *aptError) Error() string { return run.Redact(e.text) }

func (e *aptError) Unwrap() error { return e.err }

// lockedTexts are the messages of apt (apt-pkg/deb/debsystem.cc, fileutl.cc) and dpkg about a lock that another
// process holds. DPkg::Lock::Timeout makes apt wait for dpkg's lock, but not for the lock of the lists.
var lockedTexts = []string{
	"Could not get lock", "Unable to acquire the dpkg frontend lock",
	"locked by another process", "Unable to lock",
}

// interrupted is apt's message if an earlier dpkg was killed.
const interrupted = "dpkg was interrupted"

// apt runs apt-get without questions. It waits for locks, and completes the work of a killed dpkg first.
func (p Packages) apt(ctx context.Context, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, aptTimeout)
	defer cancel()
	patience := int(p.patience().Round(time.Second) / time.Second)
	command := append([]string{
		"apt-get", "--assume-yes", "--quiet",
		"--option", "Dpkg::Use-Pty=false", // otherwise dpkg's error messages would be lost
		"--option", fmt.Sprintf("DPkg::Lock::Timeout=%d", patience),
		// Keep configuration files that were changed.
		"--option", "Dpkg::Options::=--force-confold",
	}, args...)
	err := p.unlocked(ctx, command)
	if err != nil && strings.Contains(err.Error(), interrupted) {
		if err = p.configure(ctx); !errors.Is(err, ErrLocked) {
			err = p.unlocked(ctx, command)
		}
	}
	return err
}

// configure completes the configuration of packages after dpkg was interrupted; until then apt-get refuses to work.
// It fails for a package that was being unpacked, and for packages that depend on that one. apt-get unpacks it again.
func (p Packages) configure(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, aptTimeout)
	defer cancel()
	return p.unlocked(ctx, []string{"dpkg", "--force-confold", "--configure", "--pending"})
}

// Await returns when no other process changes packages; after Patience it returns ErrLocked. `apt-get check` takes
// dpkg's lock and changes nothing (apt-get(8)); later commands report the problems that it finds.
func (p Packages) Await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, aptTimeout)
	defer cancel()
	err := p.unlocked(ctx, []string{"apt-get", "--quiet", "check"})
	if errors.Is(err, ErrLocked) || ctx.Err() != nil {
		return err
	}
	return nil
}

func (p Packages) patience() time.Duration { return cmp.Or(p.Patience, 5*time.Minute) }

func (p Packages) unlocked(ctx context.Context, command []string) (err error) {
	poll.Await(ctx, p.patience(), cmp.Or(p.Pause, 5*time.Second), nil, func() bool {
		err = p.quietly(ctx, command...)
		return !errors.Is(err, ErrLocked)
	})
	return err
}

// quietly runs a program of the package tools without questions and without restarts. Ubuntu runs needrestart after
// apt; needrestart does nothing if NEEDRESTART_SUSPEND is set (apt-pinvoke of needrestart).
func (p Packages) quietly(ctx context.Context, command ...string) error {
	env := append([]string{"DEBIAN_FRONTEND=noninteractive", "NEEDRESTART_SUSPEND=1"}, p.proxies()...)
	_, err := p.Runner.Run(ctx, run.Command{Name: command[0], Args: command[1:], Env: env})
	failed := (*run.Error)(nil)
	if !errors.As(err, &failed) || ctx.Err() != nil {
		return err
	}
	for _, text := range lockedTexts {
		if strings.Contains(failed.Stderr, text) {
			return fmt.Errorf("%w: %w", ErrLocked, &aptError{problems(failed), err})
		}
	}
	return &aptError{problems(failed), err}
}

func problems(failed *run.Error) string {
	var lines []string
	for line := range strings.Lines(failed.Stderr) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "E: ") || strings.HasPrefix(line, "dpkg: error") {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return strings.TrimPrefix(failed.Error(), failed.Command.Name+": ")
	}
	return strings.Join(lines, "; ")
}

// proxies returns Juju's proxy settings under the names that other programs use.
func (p Packages) proxies() []string {
	if p.Getenv == nil {
		return nil
	}
	var set []string
	for _, name := range []string{"http", "https", "no"} {
		if value := p.Getenv("JUJU_CHARM_" + strings.ToUpper(name) + "_PROXY"); value != "" {
			set = append(set, name+"_proxy="+value)
		}
	}
	return set
}
