package scenario

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/system/machines"
)

// reinstall makes dpkg install the package of the services again, as an unattended upgrade does. The script restarts
// the services, unless restarts are held back: then they run on until the operator restarts them.
func (s *story) reinstall(ctx context.Context, t *testing.T) {
	unit := s.turns(ctx, t)[0]
	machine := s.Machines[unit]
	require.NoError(t, s.Configure(ctx, map[string]string{"enable-auto-restarts": "false"}))
	s.settle(ctx, t)
	before := invocations(ctx, t, machine)
	s.installAgain(ctx, t, unit)
	assert.Equal(t, before, invocations(ctx, t, machine), "the package's script has restarted services of %s", unit)
	refused, err := machine.Shell(ctx, "cat /var/lib/policy-rc.d/charm-ovn-central-*.deferred")
	require.NoError(t, err, "what was refused is noted")
	require.NoError(t, s.StartAgent(ctx, unit))
	t.Logf("noted on %s:\n%s", unit, refused)

	s.updates(ctx, t, unit)
	s.says(ctx, t, unit, "Services queued for restart: ")
	deferred := s.deferred(ctx, t, unit)
	for service := range before {
		assert.Contains(t, refused, "service: "+service+".service")
		assert.Contains(t, deferred, "restart "+service+": Package update")
	}
	s.restarts(ctx, t, unit)
	after := invocations(ctx, t, machine)
	for service := range before {
		assert.NotEqual(t, before[service], after[service], "%s of %s was not restarted", service, unit)
	}

	require.NoError(t, s.Configure(ctx, map[string]string{"enable-auto-restarts": "true"}))
	s.settle(ctx, t)
	s.installAgain(ctx, t, unit)
	for service, id := range invocations(ctx, t, machine) {
		assert.NotEqual(t, after[service], id, "without the option the package's script restarts %s", service)
	}
	require.NoError(t, s.StartAgent(ctx, unit))
	s.settle(ctx, t)
	s.writes(ctx, t)
}

// installAgain has dpkg configure the installed version again on a unit, and suspends its agent meanwhile.
func (s *story) installAgain(ctx context.Context, t *testing.T, unit string) {
	t.Helper()
	require.NoError(t, s.StopAgent(ctx, unit))
	_, err := s.Machines[unit].Shell(ctx, "dpkg --install /srv/packages/ovn-central_*.deb")
	require.NoError(t, err)
}

// invocations returns systemd's numbers of the runs of a machine's services, by service.
func invocations(ctx context.Context, t *testing.T, m *machines.Machine) map[string]string {
	t.Helper()
	ids := map[string]string{}
	for _, service := range []string{"ovn-northd", "ovn-ovsdb-server-nb", "ovn-ovsdb-server-sb"} {
		out, err := m.Exec(ctx, "systemctl", "show", "--property=InvocationID", "--value", service)
		require.NoError(t, err)
		ids[service] = strings.TrimSpace(out)
		require.NotEmpty(t, ids[service], "%s runs", service)
	}
	return ids
}

// turns returns the units in the order in which they upgrade: those that lead fewer databases first, then by number.
func (s *story) turns(ctx context.Context, t *testing.T) []string {
	t.Helper()
	led := map[string]int{}
	for _, db := range databases {
		led[s.leaderOf(ctx, t, db)]++
	}
	units := s.alive(ctx, t)
	slices.SortStableFunc(units, func(a, b string) int { return led[a] - led[b] })
	return units
}

// deferred returns what a unit lists as restarts that are held back.
func (s *story) deferred(ctx context.Context, t *testing.T, unit string) string {
	t.Helper()
	results, err := s.Run(ctx, unit, "show-deferred-events", "format=text")
	require.NoError(t, err)
	return fmt.Sprint(results["output"])
}

// restarts makes the restarts that a unit holds back, in its turn, or after a lost unit's lock has expired.
func (s *story) restarts(ctx context.Context, t *testing.T, unit string) {
	t.Helper()
	eventually(ctx, t, convergence, func() error {
		_, err := s.Run(ctx, unit, "restart-services", "deferred-only=true")
		return err
	})
	require.NotContains(t, s.deferred(ctx, t, unit), "restart ", unit)
}

// updates has a unit run update-status, and waits for its end.
func (s *story) updates(ctx context.Context, t *testing.T, unit string) {
	t.Helper()
	hooks := func() int {
		status, err := s.Status(ctx)
		require.NoError(t, err)
		return len(status.Units[unit].Hooks)
	}
	before := hooks()
	require.NoError(t, s.UpdateStatus(ctx, unit))
	eventually(ctx, t, convergence, func() error {
		if hooks() == before {
			return fmt.Errorf("%s has run no hook", unit)
		}
		return nil
	})
}

// says waits until a unit's status has all of these words.
func (s *story) says(ctx context.Context, t *testing.T, unit string, words ...string) {
	t.Helper()
	var message string
	eventually(ctx, t, convergence, func() error {
		status, err := s.Status(ctx)
		if err != nil {
			return err
		}
		message = status.Units[unit].Workload.Message
		for _, word := range words {
			if !strings.Contains(message, word) {
				return fmt.Errorf("%s says %q, and not %q", unit, message, word)
			}
		}
		return nil
	})
	t.Logf("%s says: %s", unit, message)
}

// heldMark is on a machine's disk while something is held there.
const heldMark = "/srv/hold/mark"

// holdScript is what waits for the power to go.
const holdScript = "mkdir -p /srv/hold; touch " + heldMark + "; exec sleep infinity"

// holdDpkg makes a machine's dpkg stop before it unpacks ovn-common, with openvswitch-common unpacked and ovn-central not.
// The returned function ends that, also on a machine that is off.
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

// losePowerAt powers a machine off once its held start waits.
func losePowerAt(ctx context.Context, t *testing.T, m *machines.Machine) {
	t.Helper()
	eventually(ctx, t, convergence, func() error {
		_, err := m.Exec(ctx, "rm", heldMark)
		return err
	})
	require.NoError(t, m.Kill(ctx))
}

func installedOn(t *testing.T, m *machines.Machine) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "dpkg-query", "--admindir="+filepath.Join(m.Root(), "var/lib/dpkg"),
		"--show", "--showformat=${Package} ${db:Status-Status} ${Version}\n", "ovn-central", "ovn-common", "openvswitch-common").Output()
	require.NoError(t, err)
	return string(out)
}

// started returns the versions of a machine's servers, by database, from their logs, oldest first.
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
