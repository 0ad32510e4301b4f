// Package apt installs and upgrades the packages of OVN, from the sources that a person has set, and
// keeps their scripts from restarting the services.
package apt

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/run"
	"github.com/ovn-central/ovn-central-operator/internal/systemd"
)

// aptTimeout bounds one call of apt-get, and of dpkg: a download of some MiB on a
// slow line, and the wait for a lock.
const aptTimeout = 15 * time.Minute

// releaseTimeout bounds the end of a hold on the services, for which there is time
// even if the hook's is over.
const releaseTimeout = 30 * time.Second

// payload is the package that is asked for; ovn-common, of the same version, and
// openvswitch, which has ovsdb-server, come along.
const (
	payload     = "ovn-central"
	openvswitch = "openvswitch-common"
)

// upgraded is all that an upgrade of the databases' servers is made of.
var upgraded = []string{payload, "ovn-common", openvswitch}

// Packages installs and upgrades the payload by apt-get. Whatever it does, no
// package starts, stops or restarts a service of OVN: it masks them until the next
// boot, at most, and then unmasks them. So deb-systemd-invoke, by which Debian's
// and Ubuntu's packages do it, finds that systemd refuses and continues; what runs
// continues running. (Its other way, /usr/sbin/policy-rc.d, may belong to another
// charm on the machine, and would outlive a hook that is killed.)
type Packages struct {
	Runner run.Runner
	Paths  ovndb.Paths
	// Getenv gives the variables in which Juju tells charms of proxies
	// (JUJU_CHARM_HTTPS_PROXY, ...); nil is none. apt has its own settings.
	Getenv func(string) string
	// Admin is where dpkg keeps what it knows ([DpkgAdmin]); if it is empty, or can't be read, dpkg-query is asked.
	Admin string
	// Patience bounds the wait for another process's lock; 0 is 5 min.
	Patience time.Duration
	// Pause is the time between two tries meanwhile; 0 is 5 s.
	Pause time.Duration
}

// Installed says which versions of ovn-central and openvswitch-common are on the machine.
// ok is false where ovn-central isn't, which is an empty version, and where dpkg was interrupted
// before it was configured (dpkg(1), "Package states"); [Packages.Install] mends both.
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
			version.OVS = fields[2] // half-configured, it is unpacked: what starts is of it
		}
	}
	if version.OVN == "" {
		return ovndb.Version{}, false, nil
	}
	return version, ok, nil
}

// known is what dpkg knows of the packages: their names, statuses and versions.
func (p Packages) known(ctx context.Context) (found [][]string, err error) {
	if p.Admin != "" {
		if found, err = dpkgStatus(p.Admin, payload, openvswitch); err == nil {
			return found, nil
		}
	}
	out, err := p.Runner.Run(ctx, run.Command{Name: "dpkg-query", Args: []string{
		"--show", `--showformat=${Package} ${db:Status-Status} ${Version}\n`, payload, openvswitch,
	}})
	// 1 is for a package that dpkg has never heard of; the other one is shown.
	if failed := (*run.Error)(nil); err != nil && !(errors.As(err, &failed) && failed.ExitCode == 1) {
		return nil, err
	}
	for line := range strings.Lines(string(out)) {
		found = append(found, strings.Fields(line))
	}
	return found, nil
}

// update fetches the lists of packages.
func (p Packages) update(ctx context.Context, options ...string) error {
	if err := p.apt(ctx, append(options, "update")...); err != nil {
		return fmt.Errorf("cannot update the lists of packages: %w", err)
	}
	return nil
}

// Install installs the payload, unless it is, and finishes what was interrupted.
// The caller has masked the services that may not run yet, since nothing else keeps
// the next boot from starting them. A lock that another process holds for longer than
// Patience is [ErrLocked].
func (p Packages) Install(ctx context.Context) error {
	if _, ok, err := p.Installed(ctx); ok || err != nil {
		return err
	}
	err := p.held(ctx, func() error {
		if _, ok, err := p.Installed(ctx); ok || err != nil {
			return err // another process was at it
		}
		err := p.configure(ctx)
		if errors.Is(err, ErrLocked) {
			return err
		}
		if err != nil {
			// Without packages: what is named is not mended (apt-get(8)). What follows says
			// what is still wrong.
			_ = p.apt(ctx, "install", "--fix-broken", "--no-remove")
		}
		return p.apt(ctx, "install", payload)
	})
	if err != nil {
		return fmt.Errorf("cannot install %s: %w", payload, err)
	}
	return nil
}

// finish configures what dpkg was interrupted at, which needs no source of packages, and says
// whether the payload is installed then: [Packages.Install] mends what was only half unpacked, and
// says what is wrong with it. A lock that another process holds for longer than Patience is
// [ErrLocked].
func (p Packages) finish(ctx context.Context) (done bool, err error) {
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

// Upgrade brings the payload to the newest version that apt knows. What runs goes
// on running as the old one: the caller restarts it, one after another. A lock that
// another process holds for longer than Patience is [ErrLocked].
func (p Packages) Upgrade(ctx context.Context) error {
	err := p.held(ctx, func() error {
		return p.apt(ctx, append([]string{"install", "--only-upgrade"}, upgraded...)...)
	})
	if err != nil {
		return fmt.Errorf("cannot upgrade %s: %w", payload, err)
	}
	return nil
}

// held does what changes packages, while no package can touch a service. It waits for another
// process that changes some: a service that is masked between that one's stop and its start
// stays down.
func (p Packages) held(ctx context.Context, do func() error) error {
	if err := p.await(ctx); err != nil {
		return err
	}
	services := systemd.Services{Runner: p.Runner}
	if err := services.Hold(ctx, ovndb.AllServices()...); err != nil {
		return err
	}
	err := do()
	// Also if the hook's time is over.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	return errors.Join(err, services.Release(ctx, ovndb.AllServices()...))
}
