package scenario

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/tests/system/machines"
	"github.com/ovn-central/ovn-central-operator/tests/system/machines/client"
	"github.com/ovn-central/ovn-central-operator/tests/system/machines/juju"
)

// worstNight is a deployment that loses its quorum, recovers, and is restored.
type worstNight struct {
	*story
	left string   // the unit that is left
	lost []string // the others

	directory string              // of the backup, on the machine of the unit that is left
	backedUp  map[string][]string // the writes that were acknowledged before it, by database
}

// TestWorstNight is a lost quorum: backups by a timer, two of three machines without power, a recovery during which the
// third loses its own, the old majority that boots without Juju, and a restore, all under a writer.
func TestWorstNight(t *testing.T) {
	ctx, s := newStory(t, packedCharm(t), machines.Options{})
	w := &worstNight{story: s}
	w.play(ctx, t, []part{
		{"three units serve", w.begin},
		{"systemd makes backups", w.timerMakesBackups},
		{"two machines lose their power, and the third amid the recovery", w.recover},
		{"the old majority boots without Juju, and systemd starts none of its servers", w.oldMajorityBoots},
		{"its units join, and that is proved", w.unitsReturn},
		{"a restore has what was written before the backup", w.restore},
	})
}

func (w *worstNight) begin(ctx context.Context, t *testing.T) {
	require.NoError(t, w.Configure(ctx, map[string]string{"backup-interval": "1"}))
	w.deploy(ctx, t)
	w.connectClients(ctx, t)
	w.writes(ctx, t)
	status, err := w.Status(ctx)
	require.NoError(t, err)
	for _, unit := range w.alive(ctx, t) {
		if w.left == "" && unit != status.Leader {
			w.left = unit // another one leads the application, and is lost
		} else {
			w.lost = append(w.lost, unit)
		}
	}
}

func (w *worstNight) backups(ctx context.Context, t *testing.T) []string {
	t.Helper()
	out, err := w.Machines[w.left].Shell(ctx, `for f in /var/backups/ovn-central/*/manifest.json; do if [ -e "$f" ]; then dirname "$f"; fi; done`)
	require.NoError(t, err)
	return strings.Fields(out)
}

// timerMakesBackups runs the restricted service, and shows that the timer starts it, here within seconds.
func (w *worstNight) timerMakesBackups(ctx context.Context, t *testing.T) {
	m := w.Machines[w.left]
	for _, unit := range w.alive(ctx, t) {
		_, err := w.Machines[unit].Exec(ctx, "systemctl", "is-active", "ovn-central-backup.timer")
		require.NoError(t, err, unit)
	}
	const conf = "/etc/systemd/system/ovn-central-backup.timer.d/soon.conf"
	require.NoError(t, m.WriteFile(conf, []byte("[Timer]\nOnActiveSec=\nOnActiveSec=1s\nOnUnitActiveSec=2s\nRandomizedDelaySec=0\nAccuracySec=100ms\n"), 0o644))
	_, err := m.Shell(ctx, "systemctl daemon-reload; systemctl restart ovn-central-backup.timer")
	require.NoError(t, err)
	eventually(ctx, t, convergence, func() error {
		if made := w.backups(ctx, t); len(made) < 2 {
			return fmt.Errorf("the timer has made the backups %v only", made)
		}
		return nil
	})
	require.NoError(t, os.RemoveAll(filepath.Join(m.Root(), filepath.Dir(conf))))
	_, err = m.Shell(ctx, "systemctl daemon-reload; systemctl restart ovn-central-backup.timer")
	require.NoError(t, err)

	w.backedUp = w.client.Acknowledged()
	w.stores(ctx, t, w.backedUp)
	before := w.backups(ctx, t)
	_, err = m.Exec(ctx, "systemctl", "start", "ovn-central-backup.service")
	require.NoError(t, err)
	made := slices.DeleteFunc(w.backups(ctx, t), func(dir string) bool { return slices.Contains(before, dir) })
	require.Len(t, made, 1)
	w.directory = made[0]
	w.writes(ctx, t)
}

// recover is the part in which a single unit is left, which was not Juju's leader.
func (w *worstNight) recover(ctx context.Context, t *testing.T) {
	m := w.Machines[w.left]
	for _, unit := range w.lost {
		require.NoError(t, w.Machines[unit].Kill(ctx))
	}
	require.NoError(t, w.SetLeader(ctx, w.left))
	eventually(ctx, t, convergence, func() error {
		results, err := w.Run(ctx, w.left, "recover", w.giveUp(), "dry-run=true")
		t.Log(results["plan"])
		return err
	})
	stored, err := client.Stored(ctx, m)
	require.NoError(t, err)
	before := w.client.Acknowledged()

	resume := holdStart(ctx, t, m)
	acting, end := context.WithCancel(ctx)
	defer end()
	acted := make(chan []string, 1)
	go func() {
		var all []string
		for acting.Err() == nil { // the same command continues a run that takes long
			result, err := w.Run(acting, w.left, "recover", w.giveUp(), "i-really-mean-it=true")
			all = append(all, fmt.Sprint(result, err))
		}
		acted <- all
	}()
	losePowerAt(ctx, t, m)
	end()
	t.Logf("recover of %s, which lost its power: %v", w.left, <-acted)
	resume()
	require.NoError(t, m.Start(ctx))
	w.proves(ctx, t, []string{w.left})
	w.writes(ctx, t)
	w.keeps(ctx, t, before, stored)
	w.chassisFollows(ctx, t)
}

func (w *worstNight) giveUp() string { return "give-up=" + strings.Join(w.lost, ",") }

// oldMajorityBoots starts the returning machines without Juju: the worst order is that their agents come last.
func (w *worstNight) oldMajorityBoots(ctx context.Context, t *testing.T) {
	var returning []*machines.Machine
	for _, unit := range w.lost {
		m := w.Machines[unit]
		require.NoError(t, os.Remove(filepath.Join(m.Root(), "etc/systemd/system/multi-user.target.wants", juju.AgentService(unit))))
		returning = append(returning, m)
	}
	each(ctx, t, returning, func(ctx context.Context, m *machines.Machine) error { return m.Start(ctx) })
	for _, m := range returning {
		for _, db := range databases {
			service := "ovn-ovsdb-server-" + db.short
			out, err := m.Shell(ctx, `systemctl show --property=ActiveState,Result "$1"; systemctl is-enabled jujud-unit-* || true`, service)
			require.NoError(t, err)
			assert.Contains(t, out, "ActiveState=inactive", "%s of %s", service, m.Name())
			assert.Contains(t, out, "Result=exec-condition", "%s of %s", service, m.Name())
			said, err := m.Journal(ctx, "--boot", "--unit="+service)
			require.NoError(t, err)
			reason, _, _ := strings.Cut(string(finding.ClusterReplaced), "{")
			assert.Contains(t, said, reason, "the journal of %s on %s", service, m.Name())
		}
	}
	w.writes(ctx, t)
}

func (w *worstNight) unitsReturn(ctx context.Context, t *testing.T) {
	before := w.client.Acknowledged()
	for _, unit := range w.lost {
		require.NoError(t, w.StartAgent(ctx, unit))
	}
	w.settle(ctx, t)
	w.proves(ctx, t, w.alive(ctx, t))
	w.writes(ctx, t)
	for _, unit := range w.lost {
		stored, err := client.Stored(ctx, w.Machines[unit])
		require.NoError(t, err)
		for db, numbers := range before {
			last := numbers[len(numbers)-1]
			assert.True(t, stored[db][last], "%s of %s lacks the write %s", db, unit, last)
		}
	}
}

func (w *worstNight) restore(ctx context.Context, t *testing.T) {
	shown, err := w.Run(ctx, w.left, "restore", "from="+w.directory, "dry-run=true")
	require.NoError(t, err)
	t.Log(shown["plan"])
	assert.Contains(t, shown["plan"], string(finding.LosesSinceBackup))
	before := w.client.Acknowledged()
	_, err = w.Run(ctx, w.left, "restore", "from="+w.directory, "i-really-mean-it=true")
	require.NoError(t, err)
	w.settle(ctx, t)
	w.proves(ctx, t, w.alive(ctx, t))
	w.writes(ctx, t)
	restored := map[string]map[string]bool{}
	for db, numbers := range w.backedUp {
		restored[db] = map[string]bool{}
		for _, n := range numbers {
			restored[db][n] = true
		}
	}
	w.keeps(ctx, t, before, restored)
	stored, err := client.Stored(ctx, w.Machines[w.left])
	require.NoError(t, err)
	for db, numbers := range before {
		last := numbers[len(numbers)-1]
		assert.False(t, stored[db][last], "the premise: %s was written to %s long after the backup", last, db)
	}
	w.chassisFollows(ctx, t)
}
