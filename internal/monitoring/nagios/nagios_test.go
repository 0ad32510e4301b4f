package nagios_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/monitoring/nagios"
	"github.com/ovn-central/ovn-central-operator/internal/run/runtest"
)

var checks = nagios.Checks{
	Unit: "ovn-central/0", Host: "juju-ovn-central-0", Groups: "juju",
	Certificate: "/etc/ovn/cert_host", CA: "/etc/ovn/ovn-central.crt",
}

var allNames = []string{"check_ovn_certs", "ovn-northd", "ovn-ovsdb-server-nb", "ovn-ovsdb-server-sb"}

var restart = runtest.Expect("systemctl", "restart", "nagios-nrpe-server")

// machine returns a root with these files. A name that ends in a slash is a directory.
func machine(t *testing.T, files ...string) string {
	t.Helper()
	root := t.TempDir()
	for _, f := range files {
		path := filepath.Join(root, f)
		if strings.HasSuffix(f, "/") {
			require.NoError(t, os.MkdirAll(path, 0o755))
			continue
		}
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, nil, 0o755))
	}
	return root
}

// on lists the files of a root.
func on(t *testing.T, root string) []string {
	t.Helper()
	var files []string
	require.NoError(t, fs.WalkDir(os.DirFS(root), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, "/"+path)
		}
		return err
	}))
	return files
}

func text(t *testing.T, path ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(path...))
	require.NoError(t, err)
	return string(data)
}

const systemdPlugin = "/usr/local/lib/nagios/plugins/check_systemd.py"

// Programs look for paths below /usr/local (test_nrpe_configured of the Python charm's functional tests), even if the
// plugin is also elsewhere.
func TestNagios_checks_written_and_server_restarted_once(t *testing.T) {
	t.Parallel()
	root := machine(t, "/etc/nagios/nrpe.d/", systemdPlugin, "/usr/lib/nagios/plugins/check_systemd.py")
	nagios := nagios.Nagios{Runner: runtest.New(t, restart), Root: root}
	for range 2 {
		names, err := nagios.Ensure(t.Context(), checks)
		require.NoError(t, err)
		assert.Equal(t, allNames, names)
	}
	commands := filepath.Join(root, "/etc/nagios/nrpe.d")
	plugins := filepath.Join(root, "/usr/local/lib/nagios/plugins")
	assert.Contains(t, text(t, commands, "check_check_ovn_certs.cfg"),
		"\ncommand[check_check_ovn_certs]="+plugins+"/check_ovn_certs /etc/ovn/cert_host /etc/ovn/ovn-central.crt\n")
	assert.Contains(t, text(t, commands, "check_ovn-northd.cfg"),
		"\ncommand[check_ovn-northd]="+plugins+"/check_systemd.py ovn-northd\n")
	assert.Contains(t, text(t, commands, "check_ovn-northd.cfg"), "\n# servicegroups: juju\n")
	info, err := os.Stat(filepath.Join(plugins, "check_ovn_certs"))
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o755), info.Mode().Perm(), "NRPE runs it as another user")
}

func TestNagios_exported_files(t *testing.T) {
	t.Parallel()
	root := machine(t, "/etc/nagios/nrpe.d/", systemdPlugin,
		"/var/lib/nagios/export/service__old-name_check_ovn-northd.cfg",
		"/var/lib/nagios/export/service__juju-mysql-0_check_mysql.cfg")
	_, err := nagios.Nagios{Runner: runtest.New(t, restart), Root: root}.Ensure(t.Context(), checks)
	require.NoError(t, err)
	export := filepath.Join(root, "/var/lib/nagios/export")
	assert.Equal(t, []string{
		"/service__juju-mysql-0_check_mysql.cfg", "/service__juju-ovn-central-0_check_check_ovn_certs.cfg",
		"/service__juju-ovn-central-0_check_ovn-northd.cfg", "/service__juju-ovn-central-0_check_ovn-ovsdb-server-nb.cfg",
		"/service__juju-ovn-central-0_check_ovn-ovsdb-server-sb.cfg",
	}, on(t, export))
	service := text(t, export, "service__juju-ovn-central-0_check_ovn-northd.cfg")
	for _, want := range []string{
		"host_name            juju-ovn-central-0\n", "servicegroups        juju\n",
		"check_command        check_nrpe!check_ovn-northd\n",
		"service_description  juju-ovn-central-0[ovn-northd] process check {ovn-central/0}\n",
	} {
		assert.Contains(t, service, want)
	}
}

func TestNagios_removes_leftovers_of_Python_charm(t *testing.T) {
	t.Parallel()
	root := machine(t, "/etc/nagios/nrpe.d/", systemdPlugin, "/etc/cron.d/ovn-central-cert-checks",
		"/usr/local/bin/check_ovn_certs.py", "/etc/cron.d/other")
	_, err := nagios.Nagios{Runner: runtest.New(t, restart), Root: root}.Ensure(t.Context(), checks)
	require.NoError(t, err)
	files := on(t, root)
	assert.NotContains(t, files, "/etc/cron.d/ovn-central-cert-checks")
	assert.NotContains(t, files, "/usr/local/bin/check_ovn_certs.py")
	assert.Contains(t, files, "/etc/cron.d/other")
}

func TestNagios_remove(t *testing.T) {
	t.Parallel()
	before := []string{
		"/etc/nagios/nrpe.d/check_mysql.cfg", systemdPlugin,
		"/var/lib/nagios/export/service__juju-mysql-0_check_mysql.cfg",
	}
	root := machine(t, before...)
	nagios := nagios.Nagios{Runner: runtest.New(t, restart, restart), Root: root}
	_, err := nagios.Ensure(t.Context(), checks)
	require.NoError(t, err)
	for range 2 {
		require.NoError(t, nagios.Remove(t.Context()))
	}
	slices.Sort(before)
	assert.Equal(t, before, on(t, root))
}

func TestNagios_Ensure_incomplete_machine(t *testing.T) {
	t.Parallel()
	nrpe := "/etc/nagios/nrpe.d/"
	for title, c := range map[string]struct {
		files []string
		calls []runtest.Call
		names []string
		says  string
	}{
		"no_NRPE":        {},
		"no_plugin":      {[]string{nrpe}, []runtest.Call{restart}, allNames[:1], nagios.ErrNoPlugin.Error()},
		"failed_restart": {[]string{nrpe, systemdPlugin}, []runtest.Call{restart.Fails(5, "no")}, nil, "cannot restart"},
	} {
		names, err := nagios.Nagios{Runner: runtest.New(t, c.calls...), Root: machine(t, c.files...)}.Ensure(
			t.Context(), checks)
		assert.Equal(t, c.names, names, title)
		if c.says == "" {
			require.NoError(t, err, title)
		} else {
			require.ErrorContains(t, err, c.says, title)
		}
	}
}

func TestNagios_unsafe_names_are_refused(t *testing.T) {
	t.Parallel()
	for _, change := range []func(*nagios.Checks){
		func(c *nagios.Checks) { c.Host = "x/../../../../../etc/rsyslog.d/evil" },
		func(c *nagios.Checks) { c.Unit = "a\ncommand[x]=/bin/sh" },
		func(c *nagios.Checks) { c.Groups = "a\rcommand[x]=/bin/sh" },
	} {
		root := machine(t, "/etc/nagios/nrpe.d/", "/var/lib/nagios/export/", "/etc/rsyslog.d/")
		bad := checks
		change(&bad)
		_, err := nagios.Nagios{Runner: runtest.New(t), Root: root}.Ensure(t.Context(), bad)
		for _, name := range []string{bad.Unit, bad.Host, bad.Groups} {
			require.ErrorContains(t, err, strconv.Quote(name))
		}
	}
}
