// Package apt installs and upgrades the packages of OVN from the configured sources, and keeps their scripts from
// restarting the services.
package apt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/run"
	"github.com/ovn-central/ovn-central-operator/internal/systemd"
)

// aptTimeout bounds one call of apt-get or dpkg: a download of some MiB on a slow line, and the wait for a lock.
const aptTimeout = 15 * time.Minute

// releaseTimeout bounds the unmasking of the services. It applies even if the hook's time is over.
const releaseTimeout = 30 * time.Second

// payload is the package to install. It depends on ovn-common of the same version, and on openvswitch, which has
// ovsdb-server.
const (
	payload     = "ovn-central"
	openvswitch = "openvswitch-common"
)

var upgraded = []string{payload, "ovn-common", openvswitch}

// Packages installs and upgrades the payload with apt-get. During that it masks the services of OVN, at most until
// the next boot, so that no package starts, stops or restarts them: deb-systemd-invoke ignores systemd's refusal. It
// uses no policy in /usr/sbin/policy-rc.d for that: the policy may belong to another charm, and would stay if the
// hook is killed.
type Packages struct {
	Runner run.Runner
	Paths  ovndb.Paths
	// Getenv returns the variables of Juju's proxies (JUJU_CHARM_HTTPS_PROXY, …); nil means no proxies. apt has
	// its own settings.
	Getenv func(string) string
	// Admin is dpkg's directory ([DpkgAdmin]). If it is empty or can't be read, dpkg-query is run instead.
	Admin string
	// Patience bounds the wait for another process's lock; 0 means 5 min.
	Patience time.Duration
	// Pause is the time between two attempts; 0 means 5 s.
	Pause time.Duration
}

// Installed returns the installed versions of ovn-central and openvswitch-common. ok is false if ovn-central is not
// installed, in which case its version is empty, or if dpkg was interrupted before it configured it (dpkg(1),
// "Package states"). [Packages.Install] repairs both.
func (p Packages) Installed(ctx context.Context) (version ovndb.Version, ok bool, err error) {
	found, err := p.known(ctx)
	if err != nil {
		return version, false, fmt.Errorf("cannot tell whether %s is installed: %w", payload, err)
	}
	for _, fields := range found {
		switch {
		case len(fields) != 3 || fields[1] == "not-installed" || fields[1] == "config-files":
		case fields[0] == payload:
			version.OVN, ok = fields[2], fields[1] == "installed"
		case fields[0] == openvswitch:
			version.OVS = fields[2] // half-configured counts, too: it is unpacked
		}
	}
	if version.OVN == "" {
		return ovndb.Version{}, false, nil
	}
	return version, ok, nil
}

// known returns dpkg's entries of the packages: names, statuses and versions.
func (p Packages) known(ctx context.Context) (found [][]string, err error) {
	if p.Admin != "" {
		if found, err = dpkgStatus(p.Admin, payload, openvswitch); err == nil {
			return found, nil
		}
	}
	out, err := p.Runner.Run(ctx, run.Command{Name: "dpkg-query", Args: []string{
		"--show", `--showformat=${Package} ${db:Status-Status} ${Version}\n`, payload, openvswitch,
	}})
	// Exit code 1 means that dpkg does not know one of the packages. It prints the others.
	if failed := (*run.Error)(nil); err != nil && !(errors.As(err, &failed) && failed.ExitCode == 1) {
		return nil, err
	}
	for line := range strings.Lines(string(out)) {
		found = append(found, strings.Fields(line))
	}
	return found, nil
}

func (p Packages) update(ctx context.Context, options ...string) error {
	if err := p.apt(ctx, append(options, "update")...); err != nil {
		return fmt.Errorf("cannot update the lists of packages: %w", err)
	}
	return nil
}

// Install installs the payload if it is missing, and completes an interrupted installation. The caller must mask
// services that must not run yet, so that the next boot does not start them. Install returns [ErrLocked] if another
// process holds a lock for longer than Patience.
func (p Packages) Install(ctx context.Context) error {
	if _, ok, err := p.Installed(ctx); ok || err != nil {
		return err
	}
	err := p.held(ctx, func() error {
		if _, ok, err := p.Installed(ctx); ok || err != nil {
			return err // another process has installed it
		}
		err := p.configure(ctx)
		if errors.Is(err, ErrLocked) {
			return err
		}
		if err != nil {
			// Name no packages: apt-get does not repair packages that it is given (apt-get(8)). The next command reports
			// remaining problems.
			_ = p.apt(ctx, "install", "--fix-broken", "--no-remove")
		}
		return p.apt(ctx, "install", payload)
	})
	if err != nil {
		return fmt.Errorf("cannot install %s: %w", payload, err)
	}
	return nil
}

// Finish configures the packages that an interrupted dpkg left unconfigured, which needs no source. It reports
// whether the payload is installed afterwards. [Packages.Install] repairs a package that was only half unpacked.
// Finish returns [ErrLocked] if another process holds a lock for longer than Patience.
func (p Packages) Finish(ctx context.Context) (done bool, err error) {
	err = p.held(ctx, func() error {
		if err := p.configure(ctx); errors.Is(err, ErrLocked) || ctx.Err() != nil {
			return err
		}
		return nil
	})
	if err != nil {
		return false, fmt.Errorf("cannot finish the installation of %s: %w", payload, err)
	}
	_, done, err = p.Installed(ctx)
	return done, err
}

// Upgrade installs the newest version of the payload that apt knows. Running services keep the old version; the
// caller restarts them, one unit after another. Upgrade returns [ErrLocked] if another process holds a lock for
// longer than Patience.
func (p Packages) Upgrade(ctx context.Context) error {
	err := p.held(ctx, func() error {
		return p.apt(ctx, append([]string{"install", "--only-upgrade"}, upgraded...)...)
	})
	if err != nil {
		return fmt.Errorf("cannot upgrade %s: %w", payload, err)
	}
	return nil
}

// held calls do while the services are masked. First it waits for other processes that change packages: if it masked
// a service between their stop and their start of it, the service would stay down.
func (p Packages) held(ctx context.Context, do func() error) error {
	if err := p.Await(ctx); err != nil {
		return err
	}
	services := systemd.Services{Runner: p.Runner}
	if err := services.Hold(ctx, ovndb.AllServices()...); err != nil {
		return err
	}
	err := do()
	// Unmask even if the hook's time is over.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	return errors.Join(err, services.Release(ctx, ovndb.AllServices()...))
}

// DpkgAdmin is dpkg's directory, unless its variable DPKG_ADMINDIR names another one (dpkg(1)).
const DpkgAdmin = "/var/lib/dpkg"

// dpkgStatus reads the name, status and version of packages from dpkg's own files, as dpkg-query shows them. Changes
// that dpkg has not merged yet are in numbered files in updates (modstatdb_open() in lib/dpkg/dbmodify.c of dpkg).
func dpkgStatus(admin string, names ...string) (lines [][]string, err error) {
	text, err := os.ReadFile(filepath.Join(admin, "status"))
	if err != nil {
		return nil, err
	}
	parts := [][]byte{text}
	entries, err := os.ReadDir(filepath.Join(admin, "updates")) // sorted
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, entry := range entries {
		if strings.Trim(entry.Name(), "0123456789") != "" {
			continue // dpkg is writing it
		}
		text, err := os.ReadFile(filepath.Join(admin, "updates", entry.Name()))
		if err != nil {
			return nil, err
		}
		parts = append(parts, text)
	}
	slices.Reverse(parts) // newest first
	for _, name := range names {
		for _, part := range parts {
			if status, version, found := dpkgEntry(part, name); found {
				lines = append(lines, []string{name, status, version})
				break
			}
		}
	}
	return lines, nil
}

// dpkgEntry finds a package in a file of the form deb-status(5). The status is the last word of its field.
func dpkgEntry(text []byte, name string) (status, version string, found bool) {
	mark := []byte("Package: " + name + "\n")
	begin := 0
	if !bytes.HasPrefix(text, mark) {
		if begin = bytes.Index(text, append([]byte("\n"), mark...)); begin < 0 {
			return "", "", false
		}
		begin++
	}
	entry, _, _ := bytes.Cut(text[begin:], []byte("\n\n"))
	for line := range strings.Lines(string(entry)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch key {
		case "Status":
			words := strings.Fields(value)
			status = words[len(words)-1]
		case "Version":
			version = value
		}
	}
	return status, version, true
}
