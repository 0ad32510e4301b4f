package scenario

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/system/machines"
)

// heldMark is on a machine's disk while something is held there.
const heldMark = "/srv/hold/mark"

// holdScript is what waits for the power to go.
const holdScript = "mkdir -p /srv/hold; touch " + heldMark + "; exec sleep infinity"

// holdDpkg has a machine's dpkg stop where it is about to unpack ovn-common, with
// openvswitch-common unpacked and ovn-central not. The function that is returned ends
// that, also on a machine that is off.
func holdDpkg(t *testing.T, m *machines.Machine) func() {
	t.Helper()
	// dpkg finds dpkg-deb by the path that apt sets for it (apt.conf(5)).
	const conf = "/etc/apt/apt.conf.d/99hold"
	wrapper := "#!/bin/sh\ncase \"$*\" in *--fsys-tarfile*ovn-common_*) " + holdScript + " ;; esac\nexec /usr/bin/dpkg-deb \"$@\"\n"
	require.NoError(t, m.WriteFile("/srv/hold/dpkg-deb", []byte(wrapper), 0o755))
	require.NoError(t, m.WriteFile(conf, []byte(`DPkg::Path "/srv/hold:/usr/sbin:/usr/bin:/sbin:/bin";`+"\n"), 0o644))
	return func() { require.NoError(t, m.WriteFile(conf, nil, 0o644)) }
}

// holdStart has the Northbound server of a machine stop before it starts again.
func holdStart(ctx context.Context, t *testing.T, m *machines.Machine) func() {
	t.Helper()
	const conf = "/etc/systemd/system/ovn-ovsdb-server-nb.service.d/hold.conf"
	require.NoError(t, m.WriteFile(conf, []byte("[Service]\nExecStartPre=/bin/sh -c '"+holdScript+"'\nTimeoutStartSec=infinity\n"), 0o644))
	_, err := m.Exec(ctx, "systemctl", "daemon-reload")
	require.NoError(t, err)
	return func() { require.NoError(t, m.WriteFile(conf, nil, 0o644)) }
}

// losePowerAt pulls a machine's power once what is held there waits for it.
func losePowerAt(ctx context.Context, t *testing.T, m *machines.Machine) {
	t.Helper()
	eventually(ctx, t, convergence, func() error {
		_, err := m.Exec(ctx, "rm", heldMark)
		return err
	})
	require.NoError(t, m.Kill(ctx))
}

// installedOn are the versions of the packages on a machine's disk.
func installedOn(t *testing.T, m *machines.Machine) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "dpkg-query", "--admindir="+filepath.Join(m.Root(), "var/lib/dpkg"),
		"--show", "--showformat=${Package} ${db:Status-Status} ${Version}\n", "ovn-central", "ovn-common", "openvswitch-common").Output()
	require.NoError(t, err)
	return string(out)
}

// started are the versions of the servers that were started on a machine, by
// database, as their logs have them: the oldest first.
func started(t *testing.T, m *machines.Machine) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, db := range databases {
		log, err := m.ReadFile("/var/log/ovn/ovsdb-server-" + db.short + ".log")
		require.NoError(t, err)
		for line := range strings.Lines(string(log)) {
			if _, version, found := strings.Cut(line, "ovsdb-server (Open vSwitch) "); found {
				all[db.short] = append(all[db.short], strings.TrimSpace(version))
			}
		}
		require.NotEmpty(t, all[db.short], "the log of %s", db.schema)
	}
	return all
}
