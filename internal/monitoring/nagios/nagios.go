// Package nagios writes the checks of Nagios, which NRPE runs.
package nagios

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
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

//go:embed check_ovn_certs
var certificatePlugin []byte

// Paths on a machine that Nagios monitors by NRPE. Source: contrib/charmsupport/nrpe.py of charm-helpers.
const (
	// commandsDir has the commands of the NRPE server, in files named *.cfg; the package nagios-nrpe-server creates it.
	commandsDir = "/etc/nagios/nrpe.d"
	// exportDir has files that a Nagios server collects. It exists only with an option of nrpe's charm.
	exportDir = "/var/lib/nagios/export"
	pluginDir = "/usr/local/lib/nagios/plugins"
)

// leftovers are the previous charm's files for the check of certificates: a plugin, and its cron job. Source:
// ovn_central.py.
var leftovers = []string{
	pluginDir + "/nrpe_check_ovn_certs.py",
	"/etc/cron.d/ovn-central-cert-checks",
	"/usr/local/bin/check_ovn_certs.py",
	"/usr/local/lib/nagios/juju_charm_plugin_data/ovn_cert_status.json",
}

const nrpeService = "nagios-nrpe-server"

// serviceTimeout limits the restart of that service, which takes less than a second.
const serviceTimeout = 30 * time.Second

// ErrNoPlugin means that no directory of plugins has check_systemd.py of nrpe's charm.
var ErrNoPlugin = errors.New("nrpe's plugin check_systemd.py is not on the machine: services are not checked by Nagios")

var services = []string{string(ovndb.Northd), string(ovndb.NorthboundServer), string(ovndb.SouthboundServer)}

// Checks are a machine's checks.
type Checks struct {
	// Unit is the unit's name in descriptions, Host the machine's name in Nagios.
	Unit, Host string
	// Groups are the Nagios service groups, separated by commas.
	Groups string
	// Certificate and CA are files in PEM.
	Certificate, CA string
}

// check is one command of NRPE. Its name is made as charm-helpers does it, although some names read oddly: operators
// have them in their Nagios.
type check struct{ name, description, command string }

func (c check) commandName() string { return "check_" + c.name }

func (c check) fileName() string { return c.commandName() + ".cfg" }

func (c check) serviceFile(host string) string {
	return "service__" + host + "_" + c.fileName()
}

// Nagios is NRPE on this machine.
type Nagios struct {
	Runner run.Runner
	// Root is the root of the machine's file system. If it is empty, it is this machine's.
	Root string
}

// Ensure writes the plugin and the commands of the checks, and restarts the NRPE server if they have changed. It
// returns the names of the checks, for [relation.MonitorsDatabag]. If the machine has no NRPE, it returns no names
// and no error. With [ErrNoPlugin] it returns the names of the remaining checks. If the hook is killed before the
// restart, nrpe's charm restarts the server, as it does after each new check.
func (n Nagios) Ensure(ctx context.Context, c Checks) (names []string, err error) {
	if !n.there(commandsDir) {
		return nil, nil
	}
	if strings.ContainsFunc(c.Unit+c.Host+c.Groups, unicode.IsControl) || strings.Contains(c.Host, "/") {
		return nil, fmt.Errorf("cannot write checks for Nagios: the names %.60q, %.60q and %.60q can't all be used",
			c.Unit, c.Host, c.Groups)
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

// Remove removes what [Nagios.Ensure] has written, and the previous charm's files.
func (n Nagios) Remove(ctx context.Context) error {
	gone := slices.Concat(leftovers, []string{filepath.Join(pluginDir, certificateCheck)})
	for _, name := range append(slices.Clone(services), certificateCheck) {
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
	// Look first in the directory of nrpe's charm: programs expect it in the commands (test_nrpe_configured of
	// zaza-openstack-tests).
	plugins := []string{pluginDir + "/check_systemd.py", "/usr/lib/nagios/plugins/check_systemd.py"}
	i := slices.IndexFunc(plugins, n.there)
	if i < 0 {
		return checks, ErrNoPlugin
	}
	for _, service := range services {
		checks = append(checks, check{
			name: service, description: "process check {" + c.Unit + "}",
			command: n.path(plugins[i]) + " " + service,
		})
	}
	return checks, nil
}

func (n Nagios) write(checks []check, c Checks) (changed bool, err error) {
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
			if err := n.remove(others); err != nil { // files with an earlier name of the machine
				return changed, err
			}
		}
	}
	for _, f := range files {
		wrote, err := atomicfile.Install(f.path, f.data, f.mode)
		if err != nil {
			return changed, err
		}
		changed = changed || wrote
	}
	return changed, nil
}

// commandFile returns a file for the NRPE server (nrpe.cfg(5)). charm-helpers also writes the comment with the
// groups, for programs that collect these files.
func (c check) commandFile(checks Checks) []byte {
	return fmt.Appendf(nil, "# Written by the charm of %s.\n# servicegroups: %s\ncommand[%s]=%s\n",
		checks.Unit, checks.Groups, c.commandName(), c.command)
}

// service returns a file for a Nagios server: an object of type service.
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

// exported returns the check's files in exportDir, for any host name.
func (n Nagios) exported(c check) []string {
	entries, err := os.ReadDir(n.path(exportDir))
	if err != nil {
		return nil // usually missing
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
