package restore

import (
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
	"github.com/ovn-central/ovn-central-operator/internal/foreign"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
	"github.com/ovn-central/ovn-central-operator/internal/unitstate"
)

// attempted returns the attempt of a recovery after its request.
func attempted(r recovery.Request) recovery.Attempt { return recovery.Attempt{}.AskFor(r) }

// requests returns the state of a unit with a request for the Northbound database.
func requests(q recovery.Request) *Kept {
	return &Kept{Attempts: map[ovndb.Database]recovery.Attempt{ovndb.NB: attempted(q)}}
}

// The action was killed after it had replaced the cluster of one database but not the other's. The repeated command
// may name a member of the replaced one.
func TestGaveUp_of_finished_request(t *testing.T) {
	t.Parallel()
	const full = "57f8a1b2-0000-4000-8000-000000000001"
	k := &Kept{Attempts: map[ovndb.Database]recovery.Attempt{
		ovndb.NB: attempted(recovery.Request{Cluster: "old", GivenUp: []string{"57f8", "ovn-central/1"}}).Seen("new"),
		ovndb.SB: attempted(recovery.Request{
			Cluster: "old", GivenUp: []string{"39740000-0000-4000-8000-000000000002", full},
		}).Seen("new"),
	}}
	for text, known := range map[string]bool{
		"57f8": true, "ovn-central/1": true, full: true, "57f8a1b2": true, "3974": true, "ovn-central/2": false,
		"dc55": false, "": false,
	} {
		assert.Equal(t, known, k.gaveUp(raft.IDArgument{Text: text}), text)
	}
	assert.True(t, k.gaveUp(raft.IDArgument{Text: "3974", Number: true}), "Juju takes it for a number")
	assert.False(t, k.gaveUp(raft.IDArgument{Text: "3975", Number: true}))
	assert.False(t, new(Kept).gaveUp(raft.IDArgument{Text: "57f8"}))
}

// A repeated command is done if its cluster serves. It is refused if its cluster has no leader, or if another restore
// came before or after it. With again it is neither.
func TestDone(t *testing.T) {
	t.Parallel()
	const backup, other = "/var/backups/ovn-central/20260101T000000Z", "/var/backups/ovn-central/20260102T000000Z"
	asked := time.Date(2026, 1, 3, 0, 0, 0, 0, time.UTC)
	see := func(k *Kept, cluster raft.ID) *Kept {
		k.See(relation.Clusters{IDs: map[ovndb.Database]raft.ID{ovndb.NB: cluster}})
		return k
	}
	after := func(backup string, made, placed raft.ID) *Kept {
		return see(requests(recovery.Request{Cluster: "old", Backup: backup, Asked: asked, New: made}), placed)
	}
	then := func(next string) *Kept { // a further request is pending
		k := after(backup, "new", "new")
		k.Note(ovndb.NB, attempted(recovery.Request{Cluster: "new", Backup: next, New: "second"}))
		return k
	}
	for name, c := range map[string]struct {
		kept    *Kept
		request string
		serves  raft.ID
		led     bool
		want    finding.Code
	}{
		"restored":                     {after(backup, "new", "new"), backup, "new", true, finding.RecoveryDone},
		"restored, no leader":          {after(backup, "new", "new"), backup, "new", false, finding.RecoveryNotLed},
		"restored, other command":      {after(backup, "new", "new"), other, "new", true, ""},
		"restored, a recovery":         {after(backup, "new", "new"), "", "new", true, ""},
		"restored, overtaken later":    {after(backup, "new", "new"), backup, "later", true, finding.RecoveryEnded},
		"overtaken":                    {after(backup, "new", "another"), backup, "another", true, finding.RecoveryEnded},
		"overtaken before it was made": {after(backup, "", "another"), backup, "another", true, finding.RecoveryEnded},
		"overtaken, other command":     {after(backup, "new", "another"), other, "another", true, ""},
		"the backup before the last":   {see(then(other), "second"), backup, "second", true, finding.RecoveryEnded},
		"being restored again":         {then(backup), backup, "new", true, ""},
		"another is being restored":    {then(other), backup, "new", true, finding.RecoveryEnded},
		"recovered":                    {after("", "new", "new"), "", "new", true, finding.RecoveryDone},
		"recovered by another unit":    {after("", "", "another"), "", "another", true, finding.RecoveryDone},
		"recovered, no leader":         {after("", "new", "new"), "", "new", false, finding.RecoveryNotLed},
		"recovered, overtaken":         {after("", "new", "new"), "", "later", false, ""},
		"nothing before":               {&Kept{}, backup, "old", true, ""},
	} {
		states := map[ovndb.Database]recovery.State{ovndb.NB: {Cluster: c.serves, Own: &recovery.Copy{HasRaftLeader: c.led}}}
		request := Request{Databases: []ovndb.Database{ovndb.NB}, Backup: c.request}
		again := recovery.Request{Backup: c.request}.Command("ovn-central/0", request.Databases, "dry-run")
		done, refused := c.kept.Done(request, states, again)
		var code finding.Code
		if found := append(done, refused...); assert.LessOrEqual(t, len(found), 1, name) && len(found) == 1 {
			code = found[0].Code
			assert.Contains(t, findingtest.Brief(found[0]), " -> ", name)
		}
		assert.Equal(t, c.want, code, name)
		request.Again = c.kept.earlier(request)
		c.kept.Forget(request)
		done, refused = c.kept.Done(request, states, command.Command{})
		assert.Empty(t, append(done, refused...), "%s: with again", name)
	}
	k := after("", "", "another")
	assert.False(t, k.starts(Request{}, recovery.State{Cluster: "later"}, ovndb.NB), "that one was given up, too")
}

// The permission to restore once more names the restore that was done: the same line, typed again, restores nothing.
func TestForget_permission_is_for_one_restore(t *testing.T) {
	t.Parallel()
	const backup = "/var/backups/ovn-central/20260101T000000Z"
	first, second := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), time.Date(2026, 1, 2, 3, 30, 0, 0, time.UTC)
	clusters := func(nb, sb raft.ID) relation.Clusters {
		return relation.Clusters{IDs: map[ovndb.Database]raft.ID{ovndb.NB: nb, ovndb.SB: sb}}
	}
	states := func(nb, sb raft.ID) map[ovndb.Database]recovery.State {
		all := map[ovndb.Database]recovery.State{}
		for db, cluster := range clusters(nb, sb).IDs {
			all[db] = recovery.State{Cluster: cluster, Own: &recovery.Copy{HasRaftLeader: true}}
		}
		return all
	}
	k := &Kept{}
	begin := func(db ovndb.Database, at time.Time, old, made raft.ID) {
		k.Note(db, k.Attempts[db].AskFor(recovery.Request{Cluster: old, Backup: backup, Asked: at, New: made}))
	}
	blocked := func(again time.Time, nb, sb raft.ID) int {
		r := Request{Databases: ovndb.Databases(), Backup: backup, Again: again}
		k.Forget(r)
		done, refused := k.Done(r, states(nb, sb), command.Command{})
		return len(done) + len(refused)
	}
	begin(ovndb.NB, first, "n0", "n1")
	begin(ovndb.SB, first.Add(time.Second), "s0", "s1") // its request came after another one
	k.See(clusters("n1", "s1"))

	last := k.earlier(Request{Backup: backup})
	assert.Equal(t, first.Add(time.Second), last)
	assert.Equal(t, 2, blocked(time.Time{}, "n1", "s1"))
	assert.Equal(t, 2, blocked(first, "n1", "s1"), "this is not the last one")
	assert.Equal(t, 2, blocked(second, "n1", "s1"), "none was asked for then")
	assert.Zero(t, blocked(last, "n1", "s1"))
	begin(ovndb.NB, second, "n1", "n2")
	begin(ovndb.SB, second, "s1", "s2")
	assert.Zero(t, blocked(last, "n1", "s1"), "typed again, the command continues")
	k.See(clusters("n2", "s1"))
	assert.Equal(t, 1, blocked(last, "n2", "s1"), "it continues with the other database")
	k.See(clusters("n2", "s2"))
	assert.Equal(t, 2, blocked(last, "n2", "s2"), "it is done")
	assert.Zero(t, blocked(second, "n2", "s2"))
}

// The reason of a withdrawal is stored. Load drops a reason that another release has stored and this one does not
// know.
func TestKept_reason_of_withdrawal(t *testing.T) {
	t.Parallel()
	state, err := unitstate.Open(filepath.Join(t.TempDir(), "state"), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	const unit = "ovn-central/0"
	why := finding.Of(finding.RecoveryNewerData, ovndb.NB, finding.Args{Unit: unit},
		recovery.Without(command.Resolved(unit, true), unit))
	u := &Unit{State: state}
	u.Attempts = map[ovndb.Database]recovery.Attempt{
		ovndb.NB: attempted(recovery.Request{Cluster: "old"}).Withdraws(why),
		ovndb.SB: attempted(recovery.Request{Cluster: "old"}).Withdraws(finding.Finding{Code: "OF_A_LATER_RELEASE"}),
	}
	require.NoError(t, u.Store())
	u = (&Unit{State: state}).Load()
	assert.Len(t, u.Attempts, 1)
	assert.Equal(t, why, u.Attempts[ovndb.NB].Why)
}

// While a recovery waits for an old cluster that serves, each write would run hooks on two units for ever (seed 17 of
// the soak's disasters).
func TestCopies_with_leader_ignore_writes(t *testing.T) {
	t.Parallel()
	told := func(c recovery.Copy) recovery.Copy {
		return Copies(map[ovndb.Database]recovery.State{ovndb.NB: {Own: &c}, ovndb.SB: {}})[ovndb.NB]
	}
	led := recovery.Copy{Cluster: "c", Term: 3, Index: 150, HasRaftLeader: true}
	later := led
	later.Index = 151
	assert.Equal(t, told(led), told(later))
	assert.Equal(t, uint64(150), led.Index, "this unit's own state is unchanged")

	alone := recovery.Copy{Cluster: "c", Term: 3, Index: 150, Stopped: true}
	assert.Equal(t, alone, told(alone))
	assert.NotContains(t, Copies(map[ovndb.Database]recovery.State{ovndb.SB: {}}), ovndb.SB)
}

// Any client of the database may write the mark (R18).
func FuzzParseMark(f *testing.F) {
	m := newMark("ovn-central/0", recovery.Request{Cluster: "57f8", Backup: "/b", GivenUp: []string{"ovn-central/1"}},
		time.Unix(1795000000, 0))
	for _, text := range []string{
		"", "{}", "null", "garbage", `{"unit":"\u001b[2J\r\nnext: juju remove-unit","backup":"` +
			strings.Repeat("b", 110_000) + `","given-up":["\n"],"cluster":"\u0000"}`,
		`{"unit":"` + m.Unit + `","at":"2026-11-18T18:26:40Z","cluster":"57f8","backup":"/b","given-up":["ovn-central/1"]}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m := observe.ParseMark(map[string]string{observe.RecoveryKey: text})
		cleaned := m
		foreign.Texts(&cleaned)
		assert.Equal(t, cleaned, m)
	})
}

// A server that was stopped after it was asked is still this unit's own.
func TestOthers_without_own_server(t *testing.T) {
	t.Parallel()
	const own, other = "ssl:10.0.0.10:6643", "ssl:10.0.0.11:6643"
	for name, x := range map[string]plan.Database{
		"runs":        {Status: raft.Status{Address: own}},
		"was stopped": {File: plan.File{Address: own}},
	} {
		assert.Equal(t, []string{other}, others([]string{own, other}, x), name)
	}
}
