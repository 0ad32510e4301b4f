package remedies

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
	"github.com/ovn-central/ovn-central-operator/tests/harness/vault"
)

// scenarios are the scenarios of the codes that appear in the lab.
var scenarios = map[finding.Code][]scenario{
	finding.MemberDown: {
		{name: "machine_starts", arrange: func(w *world) { w.loseOne() }, after: members(3)},
		{
			name: "machine_is_lost", arrange: func(w *world) { w.loseOne() }, remedy: 1,
			next: []finding.Code{finding.StaleMember}, after: members(3),
		},
		{name: "machine_of_a_unit_that_leaves_starts", arrange: func(w *world) {
			require.ErrorIs(w.T, w.RemoveUnit(w.T.Context(), w.loseOne(), lab.RemoveOptions{}), lab.ErrLost)
		}},
		{name: "disk_is_full", units: 2, arrange: func(w *world) {
			w.fillDisk()
			w.RunUpdateStatus(w.on) // it publishes that its disk is full
			w.on = w.another()
		}, after: members(3)},
		{name: "unit_is_paused", arrange: func(w *world) { w.Act(w.another(), "pause") }, after: members(3)},
		{name: "file_is_unusable", arrange: (*world).damageAnother, after: members(3)},
		{name: "server_hangs", arrange: func(w *world) { require.NoError(w.T, w.another().Hang(lab.NB)) }, after: members(3)},
	},
	finding.NoQuorum: {
		{name: "machines_start", arrange: (*world).loseQuorum, after: members(3)},
		{
			name: "machines_are_lost", arrange: (*world).loseQuorum, remedy: 1,
			next: []finding.Code{finding.NotInNewCluster}, after: members(1),
		},
		{name: "file_is_unusable", units: 2, arrange: func(w *world) {
			w.damageAnother()
			w.Eventually("sb has a leader again", func() bool { return w.HasLeader(w.on, lab.SB) })
		}, after: members(2)},
	},
	finding.NotInNewCluster: {{arrange: func(w *world) {
		w.on = w.another()
		lost := labtest.Without(w.Deployed, w.on)
		w.Lose(lost...)
		w.Act(w.on, "recover", "give-up="+labtest.Names(lost), "i-really-mean-it=true")
		w.Tick("a new cluster", labtest.AllMembers(w.Model, w.on), w.on)
	}, after: members(1)}},
	finding.StaleMember: {{arrange: func(w *world) {
		gone := w.another()
		w.RemoveByForce(gone)
		w.RequireDown(gone)
	}, after: members(2)}},
	finding.LeaveBlocked: {
		{name: "machine_starts", arrange: func(w *world) { w.blockLeave() }, after: leaves(2)},
		{
			name: "machine_is_lost", arrange: func(w *world) { w.blockLeave() }, remedy: 1,
			next: []finding.Code{finding.StaleMember}, after: leaves(2),
		},
	},
	finding.PortsClosed: {{arrange: func(w *world) {
		w.on = w.MakeOneLeader()
		w.ports(w.Followers()[0], "--insert", "INPUT", "6643,6644")
	}, after: members(3)}},
	finding.CutOff: {{arrange: func(w *world) {
		w.MakeLeader(w.Deployed[0], lab.NB)
		w.on = w.Deployed[1]
		for _, chain := range []string{"INPUT", "OUTPUT"} {
			w.ports(w.on, "--insert", chain, "6643")
		}
	}, after: members(3)}},
	finding.ReplacesItself: {{arrange: func(w *world) {
		w.Client(lab.NB, "set", "NB_Global", ".", `external_ids:"`+observe.SupersededKey+`"="`+w.ClusterID(w.on, lab.NB)+`"`)
	}}},

	finding.FileLacksEntries: {
		{name: "space_is_made", units: 2, arrange: (*world).fillDisk, after: active},
		{name: "there_is_no_space", units: 2, arrange: (*world).fillDisk, remedy: 1, after: func(w *world) {
			if !w.on.Removed() { // its server gives up the database as it leaves; Juju tries again by itself
				_, err := w.RetryUntil(w.Patient(), w.on)
				require.NoError(w.T, err)
			}
			members(3)(w)
		}},
	},
	finding.DiskFull:     {{units: 2, arrange: (*world).fillDisk, after: active}},
	finding.FileUnusable: {{arrange: func(w *world) { w.damage(w.TakeOut) }, after: members(3)}},
	finding.FileUnreadable: {{arrange: func(w *world) {
		w.damage(func(path string) {
			file, err := os.OpenFile(path, os.O_WRONLY, 0)
			require.NoError(w.T, err)
			_, err = file.WriteAt([]byte("#!"), 0)
			require.NoError(w.T, errors.Join(err, file.Close()))
		})
	}, after: members(3)}},
	finding.DatabaseStandalone: {{arrange: func(w *world) { w.foreignFile("create") }, after: active}},
	finding.FileOfOtherCluster: {{arrange: func(w *world) { w.foreignFile("create-cluster") }, after: active}},
	finding.ServerHangs: {{arrange: func(w *world) {
		w.on = w.another()
		require.NoError(w.T, w.on.Hang(lab.NB))
	}, after: members(3)}},
	finding.ServerDown: {{arrange: func(w *world) {
		w.on = w.another()
		require.NoError(w.T, w.on.Kill(lab.NB))
	}, after: members(3)}},
	finding.AddressChanged: {{arrange: func(w *world) {
		w.on = w.another()
		require.NoError(w.T, w.SetAddress(w.T.Context(), w.on, "10.99.0.77"))
	}, after: members(3)}},
	finding.ListenerWithoutTLS: {{units: 1, arrange: func(w *world) {
		w.Client(lab.NB, "--", "--id=@c", "create", "Connection", `target="ptcp:16641"`, "--", "add", "NB_Global", ".",
			"connections", "@c")
	}, after: active}},

	finding.CertificatesMissing: {{units: 1, arrange: func(w *world) {
		require.NoError(w.T, w.Unrelate(w.T.Context(), w.Certificates))
	}, after: active}},
	finding.CertificateUnusable: {{units: 1, deploy: empty, arrange: func(w *world) {
		w.RelateVault()
		w.Issue(vault.NewWith("old", vault.Options{TTL: -time.Hour}), nil)
		w.on = w.AddFresh(1)[0]
	}, after: active}},
	finding.CertificateNewUnusable: {{units: 1, deploy: settled, arrange: func(w *world) {
		w.Issue(vault.NewWith("old", vault.Options{TTL: -time.Hour}), nil)
	}, after: active}},
	finding.CertificateExpires: {{units: 1, deploy: settled, arrange: func(w *world) {
		w.Issue(vault.NewWith("short", vault.Options{TTL: 20 * 24 * time.Hour}), nil)
	}, after: active}},

	finding.NorthdHangs: {{units: 2, deploy: settled, arrange: func(w *world) {
		w.on = w.northdThatIs("standby")
		hang(w.T, w.on)
	}, after: active}},
	finding.NorthdNoneActive: {
		{name: "it_hangs", units: 2, deploy: settled, arrange: func(w *world) {
			w.hangActive()
		}, after: active},
		{name: "another_unit's_hangs", units: 2, deploy: settled, arrange: func(w *world) {
			w.hangActive()
			w.RunUpdateStatus(w.on)
			w.on = labtest.Without(w.Deployed, w.on)[0]
		}, after: active},
		{name: "it_is_held", units: 1, deploy: settled, arrange: func(w *world) {
			w.Act(w.on, "hold-northd")
		}, after: active},
	},
	finding.NorthdPaused: {{units: 1, deploy: settled, arrange: func(w *world) {
		w.northdThatIs("active")
		_, err := w.on.Exec(w.T.Context(), "ovn-appctl", "-t", "ovn-northd", "pause")
		require.NoError(w.T, err)
	}, after: active}},
	finding.NorthdHeld: {{units: 2, deploy: settled, arrange: func(w *world) {
		w.Act(w.on, "hold-northd")
	}, after: active}},
	finding.NorthdProbeOff: {{units: 1, arrange: func(w *world) {
		w.configure("ovsdb-server-inactivity-probe", "0")
	}, after: active}},

	finding.Paused: {{arrange: func(w *world) { w.Act(w.on, "pause") }, after: members(3)}},
	finding.OptionInvalid: {{units: 1, arrange: func(w *world) {
		w.configure("ovsdb-server-election-timer", "61")
	}, after: active}},
	finding.RestartsHeld: {{units: 1, deploy: settled, arrange: func(w *world) {
		w.configure("enable-auto-restarts", "false")
		w.Offer("99.1.0-1", w.on)
		require.NoError(w.T, w.Configure(w.T.Context(), labtest.Archive(1)))
	}, after: active}},
}

// settled deploys units like the charm on empty machines: their ovn-northd runs, and the provider is vault.
func settled(t *testing.T, s scenario) *labtest.Model {
	t.Helper()
	t.Parallel()
	m, _ := labtest.Settled(t, s.units, s.options)
	return m
}

// empty deploys nothing yet.
func empty(t *testing.T, s scenario) *labtest.Model {
	t.Helper()
	t.Parallel()
	return labtest.Empty(t, s.options)
}

// members requires that the given number of units is left, and that they are the only members of their clusters.
func members(n int) func(*world) {
	return func(w *world) {
		w.T.Helper()
		require.Len(w.T, w.Units(), n)
		w.Tick("all are members", labtest.AllMembers(w.Model, w.Units()...))
	}
}

// leaves requires that a refused unit leaves when Juju tries again, and that n units' members remain.
func leaves(n int) func(*world) {
	return func(w *world) {
		w.T.Helper()
		going := w.going()
		_, err := w.RetryUntil(w.Patient(), going) // a machine that comes back is first reached in one direction
		require.NoError(w.T, err)
		require.True(w.T, going.Removed())
		assert.Len(w.T, w.MemberIDs(w.on, lab.NB), n)
		w.RequireWritable()
	}
}

func active(w *world) {
	w.T.Helper()
	w.Tick("all are active", w.AllActive)
}

// another returns a unit that leads nothing.
func (w *world) another() *lab.Unit {
	w.T.Helper()
	w.on = w.MakeOneLeader()
	return w.Followers()[0]
}

// going returns the unit that is being removed.
func (w *world) going() *lab.Unit {
	w.T.Helper()
	for _, u := range w.Units() {
		if u.Dying() {
			return u
		}
	}
	require.Fail(w.T, "no unit is being removed")
	return nil
}

// loseOne cuts the power of a unit's machine, and observes the leader.
func (w *world) loseOne() *lab.Unit {
	w.T.Helper()
	lost := w.another()
	w.PowerOff(lost)
	w.RequireDown(lost)
	return lost
}

// blockLeave makes a unit wait to leave because the machine of another one is off.
func (w *world) blockLeave() {
	w.T.Helper()
	lost := w.loseOne()
	for _, u := range w.Followers() {
		if u != lost {
			w.RefuseRemoval(u)
			return
		}
	}
	require.FailNow(w.T, "no follower is left")
}

func (w *world) configure(option, value string) {
	w.T.Helper()
	require.NoError(w.T, w.Configure(w.T.Context(), map[string]string{option: value}))
}

// damage damages the Northbound file of a unit while the unit's machine is off.
func (w *world) damage(do func(path string)) {
	w.T.Helper()
	u := w.another()
	require.NoError(w.T, u.PowerOff())
	do(u.DBFile(lab.NB))
	require.NoError(w.T, u.PowerOn(w.T.Context()))
	require.NoError(w.T, w.Settle(w.T.Context()))
	w.on = u
}

// damageAnother damages the file of a unit, and observes another one.
func (w *world) damageAnother() {
	w.T.Helper()
	w.damage(w.TakeOut)
	w.on = labtest.Without(w.Deployed, w.on)[0]
}

// foreignFile adds a unit whose machine has a Northbound file that was made with ovsdb-tool.
func (w *world) foreignFile(command string) {
	w.T.Helper()
	u := w.AddEmpty()
	args := []string{command, u.DBFile(lab.NB), "/usr/share/ovn/ovn-nb.ovsschema"}
	if command == "create-cluster" {
		args = append(args, "tcp:"+u.Address()+":6643")
	}
	_, err := w.Exec(w.T.Context(), "ovsdb-tool", args...)
	require.NoError(w.T, err)
	require.NoError(w.T, w.Settle(w.T.Context()))
	w.on = u
}

// loseQuorum powers all units but the observed one off.
func (w *world) loseQuorum() {
	w.T.Helper()
	w.on = w.another()
	w.Lose(labtest.Without(w.Deployed, w.on)...)
}

// fillDisk adds a unit whose databases are on a small disk, and fills the disk, so that its servers lose entries.
func (w *world) fillDisk() {
	w.T.Helper()
	u := w.AddEmpty()
	w.LimitDisk(u, "2m")
	require.NoError(w.T, w.Settle(w.T.Context()))
	w.Tick("it is a member", func() bool { return w.IsMember(u) })
	active(w)
	w.HandOver(u)
	w.FillDisk(u)
	long := "external_ids:long=" + strings.Repeat("x", 8192)
	for _, row := range [][]string{{"DNS", long}, {"Port_Group", "name=short"}} {
		w.Client(lab.NB, append([]string{"create"}, row...)...)
	}
	w.on = u
}

// northdThatIs waits for an ovn-northd that is active, or standby, and returns its unit.
func (w *world) northdThatIs(state string) (found *lab.Unit) {
	w.T.Helper()
	w.Tick("an ovn-northd that is "+state, func() bool {
		for _, u := range w.Deployed {
			if w.northdIs(u, state) {
				found = u
			}
		}
		return found != nil
	})
	return found
}

func (w *world) northdIs(u *lab.Unit, state string) bool {
	out, err := u.Exec(w.T.Context(), "ovn-appctl", "-t", "ovn-northd", "status")
	return err == nil && strings.TrimSpace(out) == "Status: "+state
}

// hangActive suspends the ovn-northd that holds the lock. Until it is suspended, an election may give the lock to
// another one, which is then the one to suspend.
func (w *world) hangActive() {
	w.T.Helper()
	for {
		w.on = w.northdThatIs("active")
		resume := hang(w.T, w.on)
		moved := func(u *lab.Unit) bool { return w.northdIs(u, "active") }
		if !slices.ContainsFunc(labtest.Without(w.Deployed, w.on), moved) {
			return
		}
		resume()
	}
}

// hang suspends the unit's ovn-northd until resume is called or the test ends.
func hang(t *testing.T, u *lab.Unit) (resume func()) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(u.RunDir(), "ovn-northd.pid"))
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(pid, syscall.SIGSTOP))
	resume = func() { _ = syscall.Kill(pid, syscall.SIGCONT) }
	t.Cleanup(resume)
	return resume
}
