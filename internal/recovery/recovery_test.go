package recovery

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

const old raft.ID = "5418e1b5-284d-47b2-9acc-fb82170132ed"

func unit(n int) string { return fmt.Sprintf("ovn-central/%d", n) }

func id(n int) raft.ID { return raft.ID(fmt.Sprintf("%04d0000-e8e4-4719-b344-902444227dd7", n)) }

// of returns the state of unit 0 of n. The other units have published nothing.
func of(n int) State {
	s := State{Database: ovndb.NB, Unit: unit(0), Cluster: old, Own: &Copy{Cluster: old, Term: 2, Index: 10}}
	for i := range n {
		s.Members = append(s.Members, Member{ID: id(i), Unit: unit(i), Exists: true})
		if i > 0 {
			s.Peers = append(s.Peers, Peer{Unit: unit(i), Read: true})
		}
	}
	return s
}

// publishes makes unit 1 publish a copy.
func (s State) publishes(c Copy) State {
	s.Peers = append([]Peer{}, s.Peers...)
	c.Cluster = old
	s.Peers[0].Copy = &c
	return s
}

func givingUp(units ...int) Request {
	r := Request{Cluster: old}
	for _, n := range units {
		r.GivenUp = append(r.GivenUp, unit(n))
	}
	return r
}

func forced(units ...int) Request {
	r := givingUp(units...)
	r.Force = true
	return r
}

// answers makes the server of unit n answer.
func (s State) answers(n int) State {
	s.Members = slices.Clone(s.Members)
	s.Members[n].Answers = true
	return s
}

// again returns the remedy that repeats the request and gives up more.
func again(units string, lost string) string {
	return "-> IF_LOST_AND_OFF: ovn-central/0 recover give-up=" + units + " dry-run=true {unit=" + lost + "}"
}

func briefs(all []finding.Finding) (lines []string) {
	for _, f := range all {
		lines = append(lines, findingtest.Brief(f))
	}
	return lines
}

// with returns a changed state.
func (s State) with(change func(s *State)) State {
	s.Members, s.Peers = slices.Clone(s.Members), slices.Clone(s.Peers)
	change(&s)
	return s
}

func TestRefusals(t *testing.T) {
	const (
		there, led = "-> ovn-central/1 recover dry-run=true", "error RECOVERY_HAS_QUORUM nb ovn-central/1"
		serving    = "error RECOVERY_HAS_QUORUM nb ssl:10.0.0.2:6643"
		noCopy     = "error RECOVERY_NO_COPY nb Cluster=5418e1b5"
		whole      = " -> " + string(finding.RunElsewhere)
	)
	force := func(units string) string {
		return " -> IF_LOST_AND_OFF: ovn-central/0 recover give-up=" + units + " force=true dry-run=true {unit=ovn-central/1}"
	}
	newer := func(index string) string {
		return "error RECOVERY_NEWER_DATA nb ovn-central/1 Detail=term " + index + " Reasons=OWN_COPY_ENDS term 2, index 10 "
	}
	mayReturn := func(lost, units string) string {
		return "error RECOVERY_MAY_RETURN nb Units=[" + lost + "] " + again(units, lost)
	}
	damaged := "error RECOVERY_COPY_DAMAGED nb ovn-central/1 Units=[ovn-central/1] Detail=record 7 " +
		again("ovn-central/2,ovn-central/1", "ovn-central/1")
	silent := "error RECOVERY_NOT_REPORTED nb Units=[ovn-central/2] -> " +
		string(finding.StartMachine) + " {unit=ovn-central/2} "
	served := func(s *State) { s.Serving = []string{"ssl:10.0.0.2:6643"} }
	dying := func(n int) func(*State) { return func(s *State) { s.Peers[n-1].Dying = true } }
	own := func(change func(c *Copy)) func(*State) { return func(s *State) { change(s.Own) } }
	has := of(3).publishes
	behind, leads := has(Copy{Term: 2, Index: 9}), has(Copy{HasRaftLeader: true})
	longer, later := has(Copy{Term: 2, Index: 11}), has(Copy{Term: 3, Index: 4})
	for name, test := range map[string]struct {
		state State
		asked Request
		want  string
	}{
		"served":        {of(3).with(served), givingUp(1, 2), serving},
		"served, force": {leads.with(served), forced(1, 2), serving},
		"own server has leader": {
			of(3).with(own(func(c *Copy) { c.HasRaftLeader = true })), givingUp(1, 2),
			"error RECOVERY_HAS_QUORUM nb ovn-central/0",
		},
		"own server joins": {
			of(3).with(func(s *State) { s.Members = nil }), givingUp(),
			noCopy + " Reasons=COPY_EMPTY" + whole,
		},
		"own file damaged": {
			of(3).with(own(func(c *Copy) { c.Damage = "record 7" })), givingUp(1, 2),
			"error RECOVERY_COPY_DAMAGED nb ovn-central/0 Detail=record 7" + whole,
		},
		"no copy":                    {of(3).with(func(s *State) { s.Own = nil }), givingUp(1, 2), noCopy + whole},
		"no cluster":                 {State{Database: ovndb.NB}, givingUp(1, 2), "error RECOVERY_NO_CLUSTER nb"},
		"force without names":        {behind, forced(), "error RECOVERY_FORCE_UNNAMED nb"},
		"peer leads":                 {leads, givingUp(2), led},
		"peer leads, answers":        {leads.answers(1), givingUp(2), led},
		"peer leads, given up":       {leads, givingUp(1, 2), led + force("ovn-central/1,ovn-central/2")},
		"peer leads, answers, force": {leads.answers(1), forced(1, 2), led},
		"peer has more": {
			longer, givingUp(2), newer("2, index 11") + there + force("ovn-central/2,ovn-central/1"),
		},
		"peer has more, dying": {
			longer.answers(1).with(dying(1)), forced(1, 2), newer("2, index 11") +
				"-> ovn-central/1 backup -> " + string(finding.RestoreHere) + " {unit=ovn-central/1}",
		},
		"peer has later term, answers":        {later.answers(1), givingUp(2), newer("3, index 4") + there},
		"peer has later term, answers, force": {later.answers(1), forced(1, 2), newer("3, index 4") + there},
		"peer has later term, given up": {
			later, givingUp(1, 2), newer("3, index 4") + there + force("ovn-central/1,ovn-central/2"),
		},
		"peer has later term, force for another": {
			later, forced(2), newer("3, index 4") + there + force("ovn-central/2,ovn-central/1"),
		},
		"peer silent": {behind, givingUp(), silent + again("ovn-central/2", "ovn-central/2")},
		"peer dying":  {behind.with(dying(2)), givingUp(), mayReturn("ovn-central/2", "ovn-central/2")},
		"peer dying, was stopped": {
			has(Copy{Term: 2, Index: 9, Stopped: true}).with(dying(1)), givingUp(2),
			mayReturn("ovn-central/1", "ovn-central/2,ovn-central/1"),
		},
		"peer gone": {
			behind.with(func(s *State) { s.Members[2].Exists, s.Peers = false, s.Peers[:1] }), givingUp(),
			mayReturn("ovn-central/2", "ovn-central/2"),
		},
		"member of unknown unit": {
			behind.with(func(s *State) { s.Members[2] = Member{ID: id(7)} }), givingUp(),
			mayReturn(string(id(7)), string(id(7))),
		},
		"peer stopped, damaged": {has(Copy{Term: 2, Index: 9, Stopped: true, Damage: "record 7"}), givingUp(2), damaged},
		"peer down, damaged":    {has(Copy{Term: 2, Index: 9, Damage: "record 7"}), givingUp(2), damaged},
	} {
		t.Run(name, func(t *testing.T) {
			refusals := test.state.Judge(test.asked).Refusals
			require.NotEmpty(t, refusals)
			assert.Equal(t, test.want, findingtest.Brief(refusals[0]))
		})
	}
	assert.Empty(t, behind.Judge(givingUp(2)).Refusals)
	assert.Empty(t, has(Copy{Stopped: true, Damage: "record 7"}).Judge(givingUp(1, 2)).Refusals)

	// A backup replaces any state.
	restored := givingUp()
	restored.Backup = backup
	unheard := leads.with(func(s *State) { s.Peers[0].Copy.Term = 9 })
	assert.Equal(t, []string{silent + restoring(again("ovn-central/2", "ovn-central/2"))},
		briefs(unheard.Judge(restored).Refusals))
	unheard.Request = &restored
	assert.Empty(t, unheard.Judge(restored).Refusals, "once it has begun, all servers are stopped")
	assert.Empty(t, leads.answers(2).Judge(restored).Refusals)
	assert.Empty(t, has(Copy{Stopped: true, Damage: "record 7"}).answers(2).Judge(restored).Refusals)
}

const backup = "/var/backups/ovn-central/20261123T190312Z"

// restoring turns the text of a recovery's command into that of a restore of the backup.
func restoring(text string) string {
	return strings.Replace(text, "recover ", "restore from="+backup+" database=nb ", 1)
}

// waits is the finding that a request of unit 0 waits for unit 1.
const waits = "waiting RECOVERY_NOT_STOPPED nb ovn-central/1 Unit=ovn-central/0"

// withdraws is the remedy once the request has begun.
const withdraws = " -> TO_WITHDRAW: ovn-central/0 recover withdraw=true"

// mustStop returns the same finding with the command that gives units up.
func mustStop(args, units string) string { return waits + args + " " + again(units, "ovn-central/1") }

// A server whose file lacks entries has acknowledged them. Its last entry is known once it has rewritten the file.
// Until then the plan can't exclude a loss.
func TestJudge_damaged_copy(t *testing.T) {
	s := of(4).publishes(Copy{Term: 2, Index: 9, Damage: "record 7"}).answers(1)
	v := s.Judge(givingUp(2, 3))
	assert.Empty(t, v.Refusals)
	const await = " -> BEFORE_ITS_NEXT_HOOK: ovn-central/1 resume"
	assert.Equal(t, []string{waits + " Detail=record 7" + await}, briefs(v.Waiting))
	assert.Contains(t, v.Plan, loses(finding.LosesUnknown, 3, 4))
	joins := finding.Statement{Database: ovndb.NB, Line: finding.OthersJoin, Args: finding.Args{Units: []string{unit(1)}}}
	assert.Contains(t, v.Plan, joins)

	whole := s.publishes(Copy{Term: 2, Index: 10, Stopped: true}).Judge(givingUp(2, 3))
	assert.Empty(t, whole.Waiting)
	assert.Contains(t, whole.Plan, loses(finding.LosesNothing, 2, 4))
	restored := givingUp(2, 3)
	restored.Backup = backup
	assert.Equal(t, []string{waits + await}, briefs(s.Judge(restored).Waiting), "its machine is on: it is not given up")
	s.Members[1].Answers = false
	assert.Equal(t, []string{restoring(mustStop("", "ovn-central/2,ovn-central/3,ovn-central/1"))},
		briefs(s.Judge(restored).Waiting))
}

// No server is stopped for a recovery that can't be made: the other unit's file is damaged, and no server runs there.
// If this unit's server is off, the other one may just have been stopped, and may publish its last entry later.
func TestNext_damaged_copy_stops_no_server(t *testing.T) {
	s := of(3).publishes(Copy{Term: 2, Index: 9, Damage: "record 7"}).accepts(0)
	r := givingUp(2)
	for range 3 {
		s.Request = &r
		step := s.Next()
		assert.Equal(t, Withdraw, step.Action)
		assert.Equal(t, finding.RecoveryCopyDamaged, step.Why.Code)
	}
	s = s.answers(1)
	assert.Equal(t, Stop, s.Next().Action, "it is written anew first")
	s = s.answers(1)
	s.Own.Stopped, s.Members[1].Answers = true, false
	step := s.Next()
	assert.Equal(t, mustStop(" Detail=record 7", "ovn-central/2,ovn-central/1")+withdraws, findingtest.Brief(step.Why))
	step.Why = finding.Finding{}
	assert.Equal(t, Step{For: unit(0), Held: true}, step)
	s.Peers[0].Copy.Stopped = true
	assert.Equal(t, Withdraw, s.accepts(0).Next().Action)
}

// Published data outlives a machine. Force gives a lost unit up, and the plan shows which data that loses.
func TestJudge_force_gives_up_newer_data(t *testing.T) {
	v := of(3).publishes(Copy{Term: 3, Index: 40}).Judge(forced(1, 2))
	assert.Empty(t, v.Refusals)
	assert.Equal(t, []finding.Line{
		finding.CopyEnds, finding.CopyEnds, finding.AddLastReported, finding.AddGivenUp, finding.CopyUnknown,
		finding.AddGivenUp, finding.MadeOfFile, finding.OthersStayOff, finding.GivenUpWithMore, finding.LosesGivenUp,
	}, lines(v.Plan))
	led := of(3).publishes(Copy{Term: 2, Index: 10, HasRaftLeader: true}).Judge(forced(1, 2))
	assert.Empty(t, led.Refusals)
	assert.Contains(t, lines(led.Plan), finding.GivenUpWithALead)
	assert.NotContains(t, lines(of(3).publishes(Copy{Term: 2, Index: 9}).Judge(forced(1, 2)).Plan),
		finding.GivenUpWithMore)
}

// lines returns the lines of a plan, with their additions.
func lines(plan []finding.Statement) (all []finding.Line) {
	for _, s := range plan {
		all = append(append(all, s.Line), s.More...)
	}
	return all
}

// loses returns the line of a plan about losses.
func loses(line finding.Line, count, total int) finding.Statement {
	return finding.Statement{Database: ovndb.NB, Line: line, Args: finding.Args{Count: count, Total: total}}
}

// The plan marks the newest copies if all are known.
func TestPlan_one_line_per_copy(t *testing.T) {
	s := of(4).publishes(Copy{Term: 2, Index: 10, Stopped: true})
	s.Peers[1].Copy = &Copy{Cluster: old, Term: 1, Index: 90, Damage: "entries 5 to 7"}
	s.Members[3] = Member{ID: id(3), Answers: true}
	assert.Equal(t, []finding.Line{
		finding.CopyUnreported, finding.AddGivenUp, finding.CopyEnds, finding.CopyEnds, finding.CopyEnds, finding.AddDamaged,
	}, lines(s.answers(2).Judge(Request{Cluster: old, GivenUp: []string{"0003"}}).Plan[:4]))
	s.Members = s.Members[:3]
	assert.Equal(t, []finding.Line{
		finding.CopyEnds, finding.AddNewest, finding.CopyEnds, finding.AddNewest, finding.CopyEnds, finding.AddDamaged,
	}, lines(s.answers(2).Judge(Request{Cluster: old}).Plan[:3]))
	restored := givingUp(2)
	restored.Backup = backup
	plan := lines(s.Judge(restored).Plan)
	assert.Equal(t, finding.MadeOfBackup, plan[0])
	assert.Contains(t, plan, finding.LosesSinceBackup)
}

// A committed entry is on a majority. If the compared copies include one of every majority, the newest has every
// committed entry.
func TestPlan_complete_only_with_every_majority(t *testing.T) {
	for n := 1; n <= 7; n++ {
		for copies := 1; copies <= n; copies++ {
			lost := n - copies // the most members that can have stored an entry that no copy has
			assert.Equal(t, lost < n/2+1, surelyComplete(n, copies), "%d of %d", copies, n)
		}
	}
}

// All lacking units are named once, in order, and the remedy gives up all of them.
func TestLacking(t *testing.T) {
	gone := of(5)
	slices.Reverse(gone.Members)
	gone.Members[1], gone.Members[0] = Member{ID: id(3), Unit: unit(3)}, Member{ID: id(4)}
	all := string(id(4)) + ",ovn-central/3,ovn-central/1,ovn-central/2"
	lost := again(all, strings.ReplaceAll(all, ",", ", "))
	assert.Equal(t, []string{
		"error RECOVERY_MAY_RETURN nb Units=[" + string(id(4)) + " ovn-central/3] " + lost,
		"error RECOVERY_NOT_REPORTED nb Units=[ovn-central/1 ovn-central/2] -> " + string(finding.StartMachine) +
			" {unit=ovn-central/1, ovn-central/2} " + lost,
	}, briefs(gone.Judge(Request{Cluster: old}).Refusals))
}

// Each unit reports a request made on any unit, and the units that it waits for.
func TestProgress(t *testing.T) {
	t.Parallel()
	assert.Empty(t, of(3).Progress(), "none was asked for")

	s := publisher()
	s.Peers[0].Request.Backup, s.Peers[0].Request.Asked = "/var/backups/b", noon
	s.Peers[0].Reached = false
	assert.Equal(t, []finding.Statement{{
		Database: ovndb.NB, Line: finding.RestoreAsked,
		Args: finding.Args{Unit: unit(1), Time: noon, Path: "/var/backups/b", Units: []string{unit(2)}, Cluster: one.Brief()},
		More: []finding.Line{finding.AddGivesUp, finding.AddUnaccepted, finding.AddMade},
	}}, s.Progress())

	s.Cluster = one
	assert.Empty(t, s.Progress(), "it is over")
}

func TestSuperseded(t *testing.T) {
	t.Parallel()
	const other = "aaaaaaaa-e8e4-4719-b344-902444227dd7"
	silent, served := Answer{}, Answer{Address: "10.0.0.2", Supersedes: []raft.ID{other, old}}
	assert.Empty(t, Superseded(old, nil), "no unit is known")
	assert.Empty(t, Superseded(old, []Answer{silent, {Address: "10.0.0.3"}}), "none says so")
	assert.Empty(t, Superseded(old, []Answer{{Address: "10.0.0.3", Supersedes: []raft.ID{other}}}),
		"another cluster was given up")
	assert.Empty(t, Superseded("", []Answer{served, {Supersedes: []raft.ID{""}}}), "a copy that has not joined yet")
	assert.Empty(t, Superseded(old, []Answer{{Cluster: old, Supersedes: []raft.ID{old}}}), "a cluster that names itself")
	assert.NotEmpty(t, Superseded(old, []Answer{{Cluster: other, Supersedes: []raft.ID{other, old}}}),
		"it names itself, too")
	assert.Equal(t, finding.Statement{
		Line: finding.ClusterReplaced, Args: finding.Args{Address: "10.0.0.2", Cluster: old.Brief()},
	}, Superseded(old, []Answer{silent, served}))
}
