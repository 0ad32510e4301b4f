package recovery

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// From idle every stage can be reached, and some event leads out of each.
func TestTransitions(t *testing.T) {
	events := map[string]transition{
		"ask": onAsk, "accept": onAccept, "make": onMake, "withdraw": onWithdraw, "take back": onTakeBack,
		"place": onPlace, "overtake": onOvertake, "lead": onLead, "unlead": onUnlead, "forget": onForget,
	}
	reached := []Stage{Idle}
	for i := 0; i < len(reached); i++ {
		from, left := reached[i], false
		for name, event := range events {
			before := Attempt{Stage: from, Request: Request{Cluster: old}}
			after, asks := before.on(event), name == "ask"
			left = left || after.Stage != from
			if !slices.Contains(reached, after.Stage) {
				reached = append(reached, after.Stage)
			}
			if _, is := event[from]; !is {
				assert.Equal(t, before, after, "%s: %s changes nothing", from, name)
			}
			assert.False(t, before.Replaced() && after.Pending() && !asks, "%s: only an operator asks again, not %s", from, name)
			assert.False(t, from == Withdrawn && after.Pending() && !asks, "what is withdrawn stays so: %s", name)
			assert.False(t, after.Stage == Made && !before.Pending(), "%s: made without a request by %s", from, name)
		}
		assert.True(t, left, from)
	}
	assert.ElementsMatch(t, []Stage{Idle, Requested, Accepted, Made, Withdrawn, Placed, Served, Overtaken}, reached)
}

// The stage depends on the application's cluster: the old one, the attempt's own, or another unit's.
func TestAttempt(t *testing.T) {
	restore := func() Attempt { return Attempt{}.AskFor(Request{Cluster: old, Backup: "/b"}) }
	for name, c := range map[string]struct {
		attempt Attempt
		want    Stage
	}{
		"its cluster is not replaced":       {restore().Seen(old), Requested},
		"the clusters are not known":        {restore().Seen(""), Requested},
		"its own cluster":                   {restore().Accept().Makes(one).Seen(one), Placed},
		"and it is led":                     {restore().Accept().Makes(one).Seen(one).Led(true), Served},
		"and has lost its leader":           {restore().Accept().Makes(one).Seen(one).Led(true).Led(false), Placed},
		"another one":                       {restore().Accept().Makes(one).Seen(other), Overtaken},
		"another one later":                 {restore().Accept().Makes(one).Seen(one).Led(true).Seen(other), Overtaken},
		"a recovery, whichever unit has it": {Attempt{}.AskFor(Request{Cluster: old}).Seen(other), Placed},
		"asked again after it was made": {
			restore().Accept().Makes(one).AskFor(Request{Cluster: old, Backup: "/b", New: one}), Made,
		},
		"an operator withdraws it":          {restore().Accept().Makes(one).TakeBack(), Idle},
		"withdrawn":                         {restore().Withdraws(finding.Finding{Code: finding.RecoveryDying}), Withdrawn},
		"withdrawn, and the quorum is back": {restore().Withdraws(finding.Finding{}).Led(true), Idle},
	} {
		assert.Equal(t, c.want, c.attempt.Stage, name)
	}
	assert.Equal(t, other, Attempt{}.AskFor(Request{Cluster: old}).Seen(other).Request.New)
	served := restore().Accept().Makes(one).Seen(one).Led(true)
	assert.Equal(t, Served, served.Of("/b"))
	assert.Equal(t, Idle, served.Of("/c"), "another backup is another command")
}

// Each event in each stage: a pending request can be withdrawn by the unit and by its operator, an operator can always
// ask again, and a finished one ends if its cluster may be replaced once more.
func TestAttempt_each_event_in_each_stage(t *testing.T) {
	requested := Attempt{}.AskFor(Request{Cluster: old, Backup: "/b"})
	accepted := requested.Accept()
	made := accepted.Makes(one)
	placed := made.Seen(one)
	before := map[Stage]Attempt{
		Idle: {}, Requested: requested, Accepted: accepted, Made: made, Withdrawn: requested.Withdraws(finding.Finding{}),
		Placed: placed, Served: placed.Led(true), Overtaken: made.Seen(other),
	}
	// The stages after: asked again, withdrawn, taken back, another cluster, its own cluster, forgotten.
	for from, want := range map[Stage][6]Stage{
		Idle:      {Requested, Idle, Idle, Idle, Idle, Idle},
		Requested: {Requested, Withdrawn, Idle, Overtaken, Placed, Requested},
		Accepted:  {Requested, Withdrawn, Idle, Overtaken, Placed, Accepted},
		Made:      {Made, Withdrawn, Idle, Overtaken, Placed, Made},
		Withdrawn: {Requested, Withdrawn, Withdrawn, Withdrawn, Withdrawn, Withdrawn},
		Placed:    {Requested, Placed, Placed, Overtaken, Placed, Idle},
		Served:    {Requested, Served, Served, Overtaken, Served, Idle},
		Overtaken: {Requested, Overtaken, Overtaken, Overtaken, Overtaken, Idle},
	} {
		a := before[from]
		assert.Equal(t, from, a.Stage)
		own := a
		own.Request.New = one
		assert.Equal(t, want, [6]Stage{
			a.AskFor(Request{Cluster: old}).Stage, a.Withdraws(finding.Finding{}).Stage, a.TakeBack().Stage,
			a.Seen(other).Stage, own.Seen(one).Stage, a.Forget().Stage,
		}, from)
	}
}

// A proof is complete once every staying unit has the write. A unit that was given up may stay off.
func TestProof_complete(t *testing.T) {
	two := func(second UnitProof) []UnitProof {
		second.Unit = unit(1)
		return []UnitProof{{Unit: unit(0), Member: true}, second}
	}
	tests := map[string]struct {
		proof    Proof
		findings []string
		broken   int
		lines    int
	}{
		"all": {Proof{Units: two(UnitProof{Member: true})}, nil, 0, 2},
		"one has not joined yet": {
			Proof{Units: two(UnitProof{})},
			[]string{
				"warning NOT_IN_NEW_CLUSTER nb ovn-central/1 Unit=ovn-central/1 -> " +
					string(finding.StartMachine) + " -> IF_LOST: " +
					"remove-unit --force ovn-central/1",
			},
			0, 1,
		},
		"one is paused": {
			Proof{Units: two(UnitProof{Paused: true})},
			[]string{"warning NOT_IN_NEW_CLUSTER nb ovn-central/1 Unit=ovn-central/1 -> ovn-central/1 resume"},
			0, 1,
		},
		"one was given up": {Proof{Units: two(UnitProof{GivenUp: true})}, nil, 0, 2},
		"one that was given up has returned, and doesn't serve": {
			Proof{Units: two(UnitProof{GivenUp: true, Member: true, Failure: "10s"})},
			[]string{"error RECOVERY_NOT_READ nb ovn-central/1 Unit=ovn-central/1 Detail=10s " +
				"-> " + string(finding.RepairServer) + " -> IF_LOST: ovn-central/0 kick " +
				"unit=ovn-central/1 dry-run=true"},
			1, 1,
		},
		"this unit doesn't serve": {
			Proof{Units: []UnitProof{{Unit: unit(0), Member: true, Failure: "no answer"}}},
			[]string{
				"error RECOVERY_NOT_READ nb ovn-central/0 Unit=ovn-central/0 Detail=no answer -> " +
					string(finding.RepairServer),
			},
			1, 0,
		},
		"no majority has stored it": {
			Proof{Failure: "no answer", Units: two(UnitProof{})},
			[]string{"error RECOVERY_NOT_STORED nb Detail=no answer"},
			1,
			0,
		},
		"the unit itself is no member yet": {Proof{Unserved: true}, []string{"waiting RECOVERY_UNSERVED nb"}, 0, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.proof.Database = ovndb.NB
			assert.Equal(t, test.findings == nil, test.proof.Complete())
			assert.Equal(t, test.findings, briefs(test.proof.Findings(unit(0))))
			assert.Len(t, test.proof.Broken(unit(0)), test.broken)
			assert.Len(t, test.proof.Proved(), test.lines)
		})
	}
	proved := func(units ...UnitProof) string { return findingtest.Brief(Proved(unit(0), []Proof{{Units: units}})) }
	const done = "info RECOVERY_PROVED"
	clients := " -> " + string(finding.ResetChassis) + " -> " + string(finding.SyncNeutron)
	assert.Equal(t, done+" -> remove-unit --force ovn-central/1 -> add-unit ovn-central -n 2"+clients,
		proved(two(UnitProof{GivenUp: true})...))
	assert.Equal(t, done+" -> add-unit ovn-central"+clients, proved(two(UnitProof{Member: true})...))
	assert.Equal(t, done+clients, proved(append(two(UnitProof{Member: true}), UnitProof{Unit: unit(2), Member: true})...))
}
