package present_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/goldentest"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/observe/observetest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/present"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
	"github.com/ovn-central/ovn-central-operator/internal/status"
)

var juju3 = juju.Version{Major: 3, Minor: 6}

// reported returns a unit's report on [observetest.JoinedBy4] after a change.
func reported(t *testing.T, change func(*observetest.Scenario)) observe.Report {
	t.Helper()
	s := observetest.JoinedBy4(t)
	change(&s)
	r := s.Report()
	r.Application.Peers = map[string]observe.Peer{
		"ovn-central/1": {State: relation.UnitState{Hostname: "m1", Northd: "standby"}},
		"ovn-central/2": {State: relation.UnitState{Hostname: "m2", Northd: "standby"}},
	}
	return r
}

func healthy(*observetest.Scenario) {}

// Of findings that differ in their subjects alone, the first ones and a number are enough.
func TestLines_counts_alike(t *testing.T) {
	t.Parallel()
	var all []finding.Finding
	for i := range 9 {
		for _, chassis := range []string{"c1", "c2"} {
			all = append(all, finding.About(finding.CandidateInvalid, fmt.Sprint("lrp-", i), finding.Args{Value: chassis}))
		}
	}
	lines := present.Lines(juju3, all)
	require.Len(t, lines, 2*(3+1))
	for _, i := range []int{3, 7} {
		assert.Contains(t, lines[i], "6")
		assert.Contains(t, lines[i], finding.CandidateInvalid)
	}
	assert.Len(t, present.Lines(juju3, all[:8]), 8, "four of each")
}

// Findings that each need a command of their own are not alike; a thousand of them are still more than a person reads.
func TestLines_counts_rest_of_code(t *testing.T) {
	t.Parallel()
	all := []finding.Finding{finding.About(finding.GroupShared, "shared", finding.Args{})}
	for i := range 1000 {
		remedy := finding.Do(command.Direct("ovn-nbctl", "set", "Gateway_Chassis", fmt.Sprint(i)))
		all = append(all, finding.About(finding.CandidateMisnamed, fmt.Sprint("lrp-", i), finding.Args{}, remedy))
	}
	lines := present.Lines(juju3, all)
	require.Len(t, lines, 2*20+1+1)
	assert.Contains(t, lines[41], "980")
	assert.Contains(t, lines[41], finding.CandidateMisnamed)
	assert.Len(t, present.Lines(juju3, all[:21]), 2*20+1)
}

// The rendered text of each situation, one file each.
func TestPresent_golden(t *testing.T) {
	t.Parallel()
	up := observetest.Up
	unit := func(code finding.Code, args finding.Args, remedies ...finding.Remedy) finding.Finding {
		return finding.New(code, finding.Subject{}, args, remedies...)
	}
	for name, test := range map[string]struct {
		change func(*observetest.Scenario)
		own    []finding.Finding
	}{
		"healthy": {healthy, nil},
		"no-quorum": {func(s *observetest.Scenario) {
			s.NB, s.SB = up("aa00").Down("aa01", "aa02").CutOff(), up("bb00").Down("bb01", "bb02").CutOff()
		}, []finding.Finding{unit(finding.NorthdNoneActive, finding.Args{}).As(finding.Error)}},
		"leave-blocked": {func(s *observetest.Scenario) {
			s.Goal["ovn-central/1"] = "dying"
			s.NB, s.SB = up("aa00", "aa01").Down("aa02"), up("bb00", "bb01").Down("bb02")
		}, nil},
		"stale": {func(s *observetest.Scenario) { s.NB, s.SB = s.NB.Down("aa04"), s.SB.Down("13fe") }, nil},
		"stale-is-up": {
			func(s *observetest.Scenario) { s.NB.Rows = append(s.NB.Rows, observetest.Row{Identity: "aa04"}) }, nil,
		},
		"cut-off": {func(s *observetest.Scenario) {
			s.NB, s.SB = up("aa00", "aa01", "aa02").CutOff(), up("bb00", "bb01", "bb02").CutOff()
		}, nil},
		"server-hangs": {func(s *observetest.Scenario) {
			s.NB = observetest.Members{Condition: ovndb.Hung, Err: fmt.Errorf("no answer within 5s")}
		}, []finding.Finding{finding.Of(finding.ServerHangs, ovndb.NB, finding.Quote("no answer within 5s").Args(),
			finding.If(finding.IfThisLasts, action("ovn-central/0", "restart-services", "services", "ovn-ovsdb-server-nb")))}},
		"paused": {func(s *observetest.Scenario) {
			s.NB, s.SB = observetest.Members{Condition: ovndb.Down}, observetest.Members{Condition: ovndb.Down}
		}, []finding.Finding{unit(finding.Paused, finding.Args{}, finding.Do(action("ovn-central/0", "resume")))}},
		"many": {func(s *observetest.Scenario) {
			s.NB, s.SB = s.NB.Down("aa04", "aa05", "aa06"), s.SB.Down("13fe")
		}, []finding.Finding{
			finding.New(
				finding.OptionInvalid, finding.Subject{Name: "source"},
				finding.Args{Value: `"what"`, Reasons: []finding.Reason{finding.Quote("no such release")}},
				finding.Do(command.Client("config", "ovn-central", "--reset", "source")),
			),
			unit(finding.FirewallFailed, finding.Quote("ufw is not installed").Args()),
			unit(finding.CertificateExpires, finding.Args{Time: time.Date(2026, 12, 1, 14, 30, 0, 0, time.UTC)}),
			finding.Of(finding.ListenerWithoutTLS, ovndb.SB, finding.Args{Value: "ptcp:16642"}),
			unit(finding.RestartDue, finding.Args{Value: "ovn-northd"}),
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := reported(t, test.change)
			all := slices.Concat(test.own, status.Clusters(r))
			if len(test.own) == 0 {
				all = slices.Concat(status.Own(r), all)
			}
			northd := ovndb.NorthdActive
			if finding.Has(all, finding.NorthdNoneActive) {
				northd = ovndb.NorthdUnconnected
			}
			summary := status.Health(r, northd == ovndb.NorthdActive)
			word, message := present.Workload(juju3, all, summary)
			screen := present.Screen(juju3, "ovn-central/0", status.Rows(r, northd, plan.NorthdUnknown), all, summary)
			goldentest.Equal(t, name+".txt", strings.Join([]string{
				"--- juju status", string(word) + ": " + message, "--- cluster-status", strings.TrimSuffix(screen, "\n"),
				"--- health", present.Health(all), "--- health detail=true", present.Details(juju3, all),
			}, "\n"))
			assert.LessOrEqual(t, strings.Count(screen, "\n"), 24)
			if name == "healthy" {
				assert.LessOrEqual(t, len(strings.Fields(screen)), 60)
			}
		})
	}
}

func TestDocuments(t *testing.T) {
	t.Parallel()
	r := reported(t, func(s *observetest.Scenario) {
		s.NB, s.SB = observetest.Up("aa00", "aa01").Down("aa02"), observetest.Up("bb00", "bb01").Down("bb02", "13fe")
	})
	all := status.Clusters(r)
	all[0].Since = observetest.Now
	goldentest.Document(t, "documents", present.Documents(juju3, all))
	goldentest.Document(t, "documents-none", present.Documents(juju3, nil))
}

// A reason of both databases is shown once, with one remedy; differences are shown for each database.
func TestFailure(t *testing.T) {
	t.Parallel()
	ways := []finding.Remedy{
		finding.ByHand(finding.StartMachine).For("ovn-central/2"),
		finding.If(finding.IfLost, command.RemoveByForce("ovn-central/2")).For("ovn-central/2"),
	}
	refused := func(db ovndb.Database, detail string, more ...finding.Remedy) error {
		return &finding.RefusedError{
			Findings: []finding.Finding{
				finding.Of(finding.NoQuorum, db, finding.Quote(detail).Args(), append(ways, more...)...),
			},
		}
	}
	again := finding.Do(command.Resolved("ovn-central/0", true))
	err := fmt.Errorf(
		"cannot stop: %w", errors.Join(refused(ovndb.NB, "1 of 3", again), refused(ovndb.SB, "2 of 4", again)),
	)
	goldentest.Equal(t, "refusal.txt", present.Failure(juju3, &finding.RefusedError{Findings: finding.Reasons(err)})+"\n")
	assert.Len(t, finding.Reasons(err), 2)
	assert.Equal(t, "cannot stop", present.Failure(juju3, errors.New("cannot stop")))
	others := []finding.Finding{
		finding.Of(finding.NoQuorum, ovndb.NB, finding.Args{}, again),
		finding.Of(finding.NoLeader, ovndb.SB, finding.Args{}, again),
	}
	text := present.Failure(juju3, &finding.RefusedError{Findings: others})
	assert.Equal(t, 1, strings.Count(text, "\nnext: "), "different findings with one remedy:\n%s", text)
}

// The rendered text of a recovery: missing units, the completed command, reasons for refusal or withdrawal, and
// reasons to wait.
func TestPresent_recovery_golden(t *testing.T) {
	t.Parallel()
	of := func(db ovndb.Database, change func(*recovery.State)) recovery.State {
		s := recovery.State{
			Database: db, Unit: "ovn-central/0", Cluster: "77eb6ddc",
			Own: &recovery.Copy{Cluster: "77eb6ddc", Term: 2, Index: 10},
			Members: []recovery.Member{
				{ID: "aa00", Unit: "ovn-central/0", Exists: true},
				{ID: "aa01", Unit: "ovn-central/1", Exists: true},
				{ID: "aa02", Unit: "ovn-central/2", Exists: true},
			},
			Peers: []recovery.Peer{{Unit: "ovn-central/1", Read: true}, {Unit: "ovn-central/2", Read: true}},
		}
		change(&s)
		return s
	}
	var text []string
	show := func(title string, all ...finding.Finding) {
		word, line := present.Workload(juju3, all)
		text = append(text, "--- "+title, string(word)+": "+line)
		text = append(text, present.Lines(juju3, all)...)
		text = append(append(text, "next:"), present.Ways(juju3, all)...)
	}
	both := func(change func(*recovery.State)) (all []finding.Finding) {
		for _, db := range ovndb.Databases() {
			v := of(db, change).Judge(recovery.Request{Cluster: "77eb6ddc"})
			all = append(append(all, v.Refusals...), v.Waiting...)
		}
		return all
	}
	copied := func(c recovery.Copy) func(*recovery.State) {
		c.Cluster = "77eb6ddc"
		return func(s *recovery.State) {
			s.Peers[0].Copy = &c
			s.Peers[1].Copy = &recovery.Copy{Cluster: c.Cluster, Stopped: true}
		}
	}
	show("not reported", both(func(*recovery.State) {})...)
	show("newer data", both(copied(recovery.Copy{Term: 3, Index: 4}))...)
	show("a leader elsewhere", both(copied(recovery.Copy{HasRaftLeader: true}))...)
	show("a file is damaged", both(copied(recovery.Copy{Stopped: true, Damage: "record 7"}))...)
	show("a server runs", both(copied(recovery.Copy{Term: 1}))...)
	show("a unit was removed", both(func(s *recovery.State) { s.Peers = nil })...)
	waits := func(title string, r recovery.Request, change func(*recovery.State)) {
		r.Cluster = "77eb6ddc"
		s := of(ovndb.NB, func(s *recovery.State) {
			s.Own.Stopped, s.Peers[0].Request, s.Members = true, &r, nil
			s.Accepted = recovery.Acceptance{Cluster: r.Cluster, Unit: "ovn-central/1"}
			change(s)
		})
		show(title, s.Next().Why)
	}
	waits("it continues", recovery.Request{}, func(*recovery.State) {})
	waits(
		"not published", recovery.Request{New: "bb00", GivenUp: []string{"ovn-central/2"}},
		func(s *recovery.State) { s.Peers[1].Dying = true },
	)
	waits(
		"the quorum has returned", recovery.Request{New: "bb00"},
		func(s *recovery.State) { s.Serving = []string{"ssl:10.0.0.9:6643"} },
	)
	waits("not accepted", recovery.Request{}, func(s *recovery.State) {
		s.Request, s.Accepted = &recovery.Request{Cluster: s.Cluster, Backup: "/b"}, recovery.Acceptance{}
	})
	waits(
		"goes first elsewhere", recovery.Request{New: "bb00"},
		func(s *recovery.State) { s.Request = &recovery.Request{Cluster: s.Cluster} },
	)
	proof := recovery.Proof{
		Database: ovndb.NB,
		Units: []recovery.UnitProof{
			{Unit: "ovn-central/0", Member: true},
			{Unit: "ovn-central/1", Member: true, Failure: "no answer"},
			{Unit: "ovn-central/2"},
		},
	}
	show("not proved", proof.Findings("ovn-central/0")...)
	proof.Units = []recovery.UnitProof{{Unit: "ovn-central/0", Member: true}, {Unit: "ovn-central/1", GivenUp: true}}
	show("proved", recovery.Proved("ovn-central/0", []recovery.Proof{proof}))
	goldentest.Equal(t, "recovery.txt", strings.Join(text, "\n")+"\n")
}

// each returns a finding for each entry of the catalogue, with arguments as long as they are in use.
func each() (all []finding.Finding) {
	for _, e := range finding.Catalogue() {
		s := finding.Subject{Databases: ovndb.Databases()}
		switch e.Kind {
		case finding.Member, finding.Unit, finding.Northd, finding.Option, finding.Gateway, finding.Chassis:
			s = finding.Subject{Name: "ovn-central/12"}
		}
		all = append(all, finding.New(e.Code, s, finding.Args{
			Unit: "ovn-central/11", Units: []string{"ovn-central/13"}, Cluster: "77eb6ddc", Other: "f3be898b",
			Path: "/var/lib/ovn/ovnnb_db.db", Service: "ovn-ovsdb-server-nb", Address: "10.246.113.209", Version: "3.3",
			Value: "VALUE", Count: 2, Total: 3, Duration: 4 * time.Second, Detail: finding.Said("DETAIL"),
			Reasons: finding.Because("REASON"),
		}))
	}
	return all
}

// action returns an action on a unit, with pairs of a parameter and its value.
func action(unit, name string, given ...string) command.Command {
	c := command.Command{Unit: unit, Action: name}
	for pair := range slices.Chunk(given, 2) {
		c.Params = append(c.Params, command.Param{Key: pair[0], Value: pair[1]})
	}
	return c
}

// remedies returns the conditions and the kinds of commands that are in use.
func remedies() (all []finding.Remedy) {
	const unit = "ovn-central/11"
	kick := action(unit, "kick", "sb-identity", "39744b2d", "nb-identity", "aa017c1a", "unit-in-model", "true",
		"i-really-mean-it", "true")
	for _, when := range []finding.Condition{"", finding.IfLost, finding.OnceMachineOff, finding.IfThisLasts} {
		all = append(all, finding.If(when, action(unit, "resume")), finding.If(when, kick),
			finding.If(when, command.RemoveByForce(unit), command.Client("add-unit", "ovn-central")),
			finding.If(when, action(unit, "recover", "dry-run", "true")))
	}
	return append(all, finding.ByHand(finding.StartMachine), finding.ByHand(finding.MoveAway))
}

// The finding comes first. Its command is shown whole with its condition, or else the line refers to cluster-status.
func TestWorkload_every_finding(t *testing.T) {
	t.Parallel()
	shown, hidden := 0, 0
	for i, f := range each() {
		for k, r := range remedies() {
			v := []juju.Version{{Major: 2, Minor: 9}, juju3}[(i+k)%2]
			f.Remedies = []finding.Remedy{r}
			_, text := present.Workload(v, []finding.Finding{f}, "3 of 3 up, 1 may fail")
			if finding.Lookup(f.Code).Quiet {
				assert.NotContains(t, text, f.Line())
				continue
			}
			seen := text
			if runes := []rune(text); len(runes) > present.StatusWidth {
				seen = string(runes[:present.StatusWidth])
			}
			before, _, _ := strings.Cut(seen, f.Line())
			assert.Contains(t, []string{"", "Unit is ready ("}, before, text)
			switch remedy := present.Remedy(v, f, r); {
			case strings.Contains(seen, "; "+remedy), strings.Contains(
				seen, f.Line()+": "+strings.TrimPrefix(remedy, "run: "),
			) && r.When == "":
				shown++
			default:
				hidden++
				assert.NotContains(t, text, "juju ", text)
				assert.Contains(t, seen, "; run cluster-status", text)
			}
		}
	}
	assert.Positive(t, shown)
	assert.Positive(t, hidden)
}

func TestVerdictAndAnchor(t *testing.T) {
	t.Parallel()
	one := func(code finding.Code) []finding.Finding {
		return []finding.Finding{finding.New(code, finding.Subject{}, finding.Args{})}
	}
	assert.Equal(t, "OK", present.Health(nil))
	assert.Equal(t, "OK", present.Verdict(one(finding.RestartDue)))
	assert.Equal(t, "WARN", present.Verdict(one(finding.StaleMember)))
	assert.Equal(t, "WARN", present.Verdict(one(finding.Electing)))
	assert.Equal(t, "ERR", present.Verdict(one(finding.NoQuorum)))
	assert.Equal(t, "no-quorum", present.Anchor(finding.NoQuorum))
	assert.True(t, strings.HasSuffix(present.URL(finding.NoQuorum), "/reference/findings.html#no-quorum"))
}

// Programs wait for messages that begin like the Python charm's.
func TestWorkload_active(t *testing.T) {
	t.Parallel()
	word, text := present.Workload(juju3, nil, "3 of 3 up, 1 may fail", "", "drained")
	assert.Equal(t, juju.Active, word)
	assert.Equal(t, "Unit is ready (3 of 3 up, 1 may fail; drained)", text)
	assert.Equal(t, "Unit is ready (x)", present.Ready("x"))
}

// The agent exports the time of the last hook, even if that hook has found the same.
func TestSave_sets_time_without_change(t *testing.T) {
	t.Parallel()
	path, old := filepath.Join(t.TempDir(), "findings"), time.Now().Add(-time.Hour)
	for range 2 {
		require.NoError(t, present.Save(path, []present.Document{{Code: "X"}}))
		info, err := os.Stat(path)
		require.NoError(t, err)
		assert.Greater(t, info.ModTime(), old)
		require.NoError(t, os.Chtimes(path, old, old))
	}
}
