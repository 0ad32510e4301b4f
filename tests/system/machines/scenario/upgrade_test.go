package scenario

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/tests/system/machines"
)

// upgrade is a deployment that gets the packages of another release.
type upgrade struct {
	*story
	first, second, last string            // the units, in the order in which they upgrade
	schemas             map[string]string // those of the older release, by database
}

// TestUpgrade_to_newer_release upgrades three units to another release of OVN with restarts held back, while two
// machines lose their power and the third is off for a while: no database is converted as long as there is an older
// server, and no write is lost.
func TestUpgrade_to_newer_release(t *testing.T) {
	options := machines.Options{Newer: newer()}
	ctx, s := newStory(t, packedCharm(t), options)
	u := &upgrade{story: s}
	u.play(ctx, t, []part{
		{"three units of the older release serve", u.begin},
		{"packages come, also to a machine that loses its power amid dpkg", u.takePackages},
		{"units restart one by one, and one loses its power while its server is down", u.restartTwo},
		{"nothing is converted while a unit is off that has older servers", u.lastIsOff},
		{"the unit that was off upgrades before it starts", u.lastComesBack},
		{"all is converted once nothing older is left", u.converted},
		{"the writer has lost nothing", func(ctx context.Context, t *testing.T) { nothingIsLost(ctx, t, u.client) }},
	})
}

func (u *upgrade) begin(ctx context.Context, t *testing.T) {
	u.deploy(ctx, t)
	u.connectClients(ctx, t)
	u.writes(ctx, t)
	u.schemas = u.schemasOf(ctx, t, u.alive(ctx, t)[0])
	t.Log("schemas: ", u.schemas)
}

// takePackages upgrades without an agent on the last unit, whose packages stay old and whose servers run.
func (u *upgrade) takePackages(ctx context.Context, t *testing.T) {
	order := u.turns(ctx, t)
	u.first, u.second, u.last = order[0], order[1], order[2]
	require.NoError(t, u.StopAgent(ctx, u.last))

	first := u.Machines[u.first]
	resume := holdDpkg(t, first)
	require.NoError(t, u.Configure(ctx, map[string]string{"enable-auto-restarts": "false", "ovn-source": newerSource}))
	losePowerAt(ctx, t, first)
	audit, err := exec.CommandContext(ctx, "dpkg", "--admindir="+filepath.Join(first.Root(), "var/lib/dpkg"), "--audit").CombinedOutput()
	require.NoError(t, err)
	t.Logf("dpkg without power: %s", audit)
	assert.Contains(t, string(audit), "ovn-common", "the packages of %s are half installed", u.first)
	resume()
	u.writes(ctx, t)
	require.NoError(t, first.Start(ctx))

	for _, unit := range []string{u.first, u.second} {
		u.says(ctx, t, unit, "Services queued for restart")
		assert.NotEqual(t, installedOn(t, u.Machines[u.last]), installedOn(t, u.Machines[unit]), unit)
		t.Logf("%s, held back: %s", unit, u.deferred(ctx, t, unit))
	}
	deferred := u.deferred(ctx, t, u.second)
	for _, service := range []string{"ovn-northd", "ovn-ovsdb-server-nb", "ovn-ovsdb-server-sb"} {
		assert.Contains(t, deferred, "restart "+service+": ", u.second)
	}
	u.notConverted(ctx, t, u.first, u.second, u.last)
	u.writes(ctx, t)
}

func (u *upgrade) restartTwo(ctx context.Context, t *testing.T) {
	u.restarts(ctx, t, u.first)
	u.notConverted(ctx, t, u.first, u.second, u.last)

	second := u.Machines[u.second]
	resume := holdStart(ctx, t, second)
	acted := make(chan string, 1)
	acting, end := context.WithCancel(ctx)
	defer end()
	go func() {
		result, err := u.Run(acting, u.second, "restart-services", "deferred-only=true")
		acted <- fmt.Sprint(result, err)
	}()
	losePowerAt(ctx, t, second)
	end()
	t.Logf("restart-services of %s, which lost its power: %v", u.second, <-acted)
	u.writes(ctx, t)
	resume()
	require.NoError(t, second.Start(ctx))
	u.restarts(ctx, t, u.second)
	u.notConverted(ctx, t, u.first, u.second, u.last)
	for _, unit := range []string{u.first, u.second} {
		assert.NotEqual(t, runs(ctx, t, u.Machines[u.last]), runs(ctx, t, u.Machines[unit]), "%s runs the newer release", unit)
		require.NoError(t, u.UpdateStatus(ctx, unit))
		u.says(ctx, t, unit, before(finding.Reason{Code: finding.OnceRuns, Name: u.last}))
	}
	u.writes(ctx, t)
}

// before returns a reason's text up to its value.
func before(r finding.Reason) string {
	r.Value = "\x00"
	text, _, _ := strings.Cut(r.String(), r.Value)
	return text
}

func (u *upgrade) lastIsOff(ctx context.Context, t *testing.T) {
	require.NoError(t, u.Machines[u.last].Kill(ctx))
	u.writes(ctx, t)
	for range 2 {
		for _, unit := range []string{u.first, u.second} {
			u.updates(ctx, t, unit)
			u.says(ctx, t, unit, before(finding.Reason{Code: finding.OnceUp, Name: u.last}))
			u.notConverted(ctx, t, unit)
		}
	}
	u.writes(ctx, t)
}

// lastComesBack boots the last unit's machine without its services, as a failed boot may: its unit finds them down.
func (u *upgrade) lastComesBack(ctx context.Context, t *testing.T) {
	m := u.Machines[u.last]
	require.NoError(t, os.Remove(filepath.Join(m.Root(), "etc/systemd/system/multi-user.target.wants/ovn-central.service")))
	before := installedOn(t, m)
	starts := started(t, m)
	require.NoError(t, m.Start(ctx))
	eventually(ctx, t, convergence, func() error {
		for _, db := range databases {
			if _, err := clusterStatus(ctx, m, db); err != nil {
				return err
			}
		}
		return nil
	})
	assert.NotEqual(t, before, installedOn(t, m), u.last)
	for db, lines := range started(t, m) {
		since := lines[len(starts[db]):]
		t.Logf("%s of %s since it is on: %v", db, u.last, since)
		assert.NotEmpty(t, since)
		assert.NotContains(t, since, lines[0], "its older server was started again")
	}
	u.writes(ctx, t)
}

// converted restarts what was held back, after which the leaders convert.
func (u *upgrade) converted(ctx context.Context, t *testing.T) {
	u.restarts(ctx, t, u.last)
	eventually(ctx, t, convergence, func() error {
		for _, unit := range u.alive(ctx, t) {
			u.updates(ctx, t, unit)
		}
		for _, unit := range u.alive(ctx, t) {
			for db, schema := range u.schemasOf(ctx, t, unit) {
				if want := u.bundled(ctx, t, unit, db); schema != want {
					return fmt.Errorf("%s of %s has the schema %s, not %s", db, unit, schema, want)
				}
				require.NotEqual(t, u.schemas[db], schema, "the newer release has another schema")
			}
		}
		return nil
	})
	require.NoError(t, u.Configure(ctx, map[string]string{"enable-auto-restarts": "true"}))
	u.settle(ctx, t)
	versions := map[string]bool{}
	for _, unit := range u.alive(ctx, t) {
		m := u.Machines[unit]
		assert.NotContains(t, u.deferred(ctx, t, unit), "restart ", unit)
		_, err := m.Shell(ctx, `! grep -i assertion /var/log/ovn/ovsdb-server-*.log`)
		assert.NoError(t, err, "a server of %s has ended on what a newer one wrote", unit)
		versions[fmt.Sprint(installedOn(t, m), runs(ctx, t, m))] = true
	}
	assert.Len(t, versions, 1)
	t.Log("at the end: ", versions)
	_, err := u.client.NB(ctx, "--wait=sb", "ls-add", "net-after")
	require.NoError(t, err)
	u.writes(ctx, t)
}

// notConverted requires that units serve the older release's schemas.
func (u *upgrade) notConverted(ctx context.Context, t *testing.T, units ...string) {
	t.Helper()
	for _, unit := range units {
		require.Equal(t, u.schemas, u.schemasOf(ctx, t, unit), unit)
	}
}

func (u *upgrade) schemasOf(ctx context.Context, t *testing.T, unit string) map[string]string {
	t.Helper()
	schemas := map[string]string{}
	for _, db := range databases {
		eventually(ctx, t, convergence, func() error {
			out, err := u.Machines[unit].Exec(ctx, "ovsdb-client", "--timeout=5", "get-schema-version", "unix:/var/run/ovn/ovn"+db.short+"_db.sock", db.schema)
			schemas[db.short] = strings.TrimSpace(out)
			return err
		})
	}
	return schemas
}

// bundled returns the schema version in a unit's packages.
func (u *upgrade) bundled(ctx context.Context, t *testing.T, unit, db string) string {
	t.Helper()
	out, err := u.Machines[unit].Exec(ctx, "ovsdb-tool", "schema-version", "/usr/share/ovn/ovn-"+db+".ovsschema")
	require.NoError(t, err)
	return strings.TrimSpace(out)
}
