package monitoring

import (
	"context"
	_ "embed" // the plugin
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/ovn-central/ovn-central-operator/internal/atomicfile"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

//go:embed check_ovn_certs
var certificatePlugin []byte

// Where things stand on a machine that Nagios watches by NRPE. Source:
// contrib/charmsupport/nrpe.py of charm-helpers.
const (
	// commandsDir has what the NRPE server may be told to run; it is there once the
	// package nagios-nrpe-server is. Of its files those named *.cfg count.
	commandsDir = "/etc/nagios/nrpe.d"
	// exportDir is what a Nagios server collects; it is there only with the option
	// of nrpe's charm that says so.
	exportDir = "/var/lib/nagios/export"
	pluginDir = "/usr/local/lib/nagios/plugins"
)

// leftovers are what the charm before this one had put on the machine for the check
// of certificates: a plugin, and what cron runs for it. Source: ovn_central.py.
var leftovers = []string{
	pluginDir + "/nrpe_check_ovn_certs.py",
	"/etc/cron.d/ovn-central-cert-checks",
	"/usr/local/bin/check_ovn_certs.py",
	"/usr/local/lib/nagios/juju_charm_plugin_data/ovn_cert_status.json",
}

// nrpeService is the service that has to read commandsDir again.
const nrpeService = "nagios-nrpe-server"

// serviceTimeout bounds its restart, which takes less than a second.
const serviceTimeout = 30 * time.Second

// ErrNoPlugin says that check_systemd.py, which nrpe's charm brings, is in
// none of the places where plugins are.
var ErrNoPlugin = errors.New("nrpe's plugin check_systemd.py is not on the machine: services are not checked by Nagios")

// Checks are what is to be checked on a machine.
type Checks struct {
	// Unit is how the unit is called in descriptions, Host the name that Nagios
	// knows the machine by.
	Unit, Host string
	// Groups are the Nagios service groups, separated by commas.
	Groups string
	// Services are names of units of systemd, without .service.
	Services []string
	// Certificate and CA are files in PEM.
	Certificate, CA string
}

// check is one command of NRPE. Its name follows from name as in charm-helpers,
// also where that reads oddly: operators have it in their Nagios.
type check struct{ name, description, command string }

func (c check) commandName() string { return "check_" + c.name }

func (c check) fileName() string { return c.commandName() + ".cfg" }

func (c check) serviceFile(host string) string {
	return "service__" + host + "_" + c.fileName()
}

// Nagios is NRPE on this machine.
type Nagios struct {
	Runner run.Runner
	// Root is where the machine's file system begins; empty is the machine's own.
	Root string
}

// Ensure writes plugin and commands of the checks where they are not as they should
// be, and only then restarts the NRPE server. It returns the names of the checks,
// for [relation.MonitorsDatabag]; none, without an error, while there is no NRPE on the
// machine. With [ErrNoPlugin] the names are those of the checks that work all the
// same. A file that was written while the restart wasn't made is made up for by
// nrpe's charm, which restarts it when it hears of a check.
func (n Nagios) Ensure(ctx context.Context, c Checks) (names []string, err error) {
	if !n.there(commandsDir) {
		return nil, nil
	}
	if strings.ContainsFunc(c.Unit+c.Host+c.Groups, unicode.IsControl) || strings.Contains(c.Host, "/") {
		return nil, fmt.Errorf("cannot write checks for Nagios: the names %.60q, %.60q and %.60q can't all be used", c.Unit, c.Host, c.Groups)
	}
	checks, missing := n.checks(c)
	changed, err := n.write(checks, c)
	if err == nil {
		err = n.remove(leftovers)
	}
	if err == nil && changed {
		err = n.restart(ctx)
	}
	if err != nil {
		return nil, err
	}
	for _, check := range checks {
		names = append(names, check.name)
	}
	slices.Sort(names)
	return names, missing
}

// Remove takes away what [Nagios.Ensure] has written, and what the charm before this
// one had. Only the services of c count.
func (n Nagios) Remove(ctx context.Context, c Checks) error {
	gone := slices.Concat(leftovers, []string{filepath.Join(pluginDir, certificateCheck)})
	for _, name := range append(slices.Clone(c.Services), certificateCheck) {
		gone = append(gone, filepath.Join(commandsDir, check{name: name}.fileName()))
		gone = append(gone, n.exported(check{name: name})...)
	}
	was := slices.ContainsFunc(gone, n.there)
	if err := n.remove(gone); err != nil || !was || !n.there(commandsDir) {
		return err
	}
	return n.restart(ctx)
}

const certificateCheck = "check_ovn_certs"

func (n Nagios) checks(c Checks) (checks []check, missing error) {
	checks = []check{{
		name: certificateCheck, description: "Check that ovn certs are valid.",
		command: strings.Join([]string{n.path(pluginDir, certificateCheck), c.Certificate, c.CA}, " "),
	}}
	// First where nrpe's charm puts it, which is where programs look for it in the
	// commands (test_nrpe_configured of zaza-openstack-tests).
	var plugin string
	for _, dir := range []string{pluginDir, "/usr/lib/nagios/plugins"} {
		if found := n.path(dir, "check_systemd.py"); plugin == "" && n.there(filepath.Join(dir, "check_systemd.py")) {
			plugin = found
		}
	}
	if plugin == "" {
		return checks, ErrNoPlugin
	}
	for _, service := range c.Services {
		checks = append(checks, check{name: service, description: "process check {" + c.Unit + "}", command: plugin + " " + service})
	}
	return checks, nil
}

func (n Nagios) write(checks []check, c Checks) (changed bool, err error) {
	if err := os.MkdirAll(n.path(pluginDir), 0o755); err != nil {
		return false, fmt.Errorf("cannot write checks for Nagios: %w", err)
	}
	type file struct {
		path string
		data []byte
		mode fs.FileMode
	}
	files := []file{{n.path(pluginDir, certificateCheck), certificatePlugin, 0o755}}
	exports := n.there(exportDir)
	for _, check := range checks {
		files = append(files, file{n.path(commandsDir, check.fileName()), check.commandFile(c), 0o644})
		if exports {
			own := n.path(exportDir, check.serviceFile(c.Host))
			files = append(files, file{own, check.service(c), 0o644})
			others := slices.DeleteFunc(n.exported(check), func(path string) bool { return n.path(path) == own })
			if err := n.remove(others); err != nil { // under a name that the machine had before
				return changed, err
			}
		}
	}
	for _, f := range files {
		wrote, err := atomicfile.WriteIfChanged(f.path, f.data, f.mode)
		if err != nil {
			return changed, fmt.Errorf("cannot write checks for Nagios: %w", err)
		}
		changed = changed || wrote
	}
	return changed, nil
}

// commandFile is what the NRPE server reads (nrpe.cfg(5)). The comment with the
// groups is one that charm-helpers writes, for the programs that collect these files.
func (c check) commandFile(checks Checks) []byte {
	return fmt.Appendf(nil, "# Written by the charm of %s.\n# servicegroups: %s\ncommand[%s]=%s\n",
		checks.Unit, checks.Groups, c.commandName(), c.command)
}

// service is what a Nagios server reads: an object of type service.
func (c check) service(checks Checks) []byte {
	return fmt.Appendf(nil, `# Written by the charm of %s.
define service {
    use                  active-service
    host_name            %s
    service_description  %s[%s] %s
    check_command        check_nrpe!%s
    servicegroups        %s
}
`, checks.Unit, checks.Host, checks.Host, c.name, c.description, c.commandName(), checks.Groups)
}

// exported are the files of the check in exportDir, under whatever host's name.
func (n Nagios) exported(c check) []string {
	entries, err := os.ReadDir(n.path(exportDir))
	if err != nil {
		return nil // not there, mostly
	}
	var paths []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "service__") && strings.HasSuffix(e.Name(), "_"+c.fileName()) {
			paths = append(paths, filepath.Join(exportDir, e.Name()))
		}
	}
	return paths
}

func (n Nagios) remove(paths []string) error {
	for _, path := range paths {
		if err := os.Remove(n.path(path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("cannot remove a check of Nagios: %w", err)
		}
	}
	return nil
}

func (n Nagios) restart(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, serviceTimeout)
	defer cancel()
	if _, err := n.Runner.Run(ctx, run.Command{Name: "systemctl", Args: []string{"restart", nrpeService}}); err != nil {
		return fmt.Errorf("cannot restart the NRPE server: %w", err)
	}
	return nil
}

func (n Nagios) path(parts ...string) string {
	return filepath.Join(append([]string{"/" + n.Root}, parts...)...)
}

func (n Nagios) there(path string) bool {
	_, err := os.Stat(n.path(path))
	return err == nil
}
