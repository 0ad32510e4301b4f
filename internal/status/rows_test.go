package status_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/observe/observetest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/status"
)

func TestRows(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*scenario)
		want   []string
	}{
		"all is well": {func(*scenario) {}, []string{
			"ovn-central/0 10.0.0.10 leader follower active yes", "ovn-central/1 10.0.0.11 follower leader standby yes", "ovn-central/2 10.0.0.12 follower follower ? yes",
		}},
		"a server is down, and a stale member": {func(s *scenario) {
			s.NB, s.SB = observetest.Up("aa00", "aa02").Down("aa01"), observetest.Up("bb00", "bb01", "bb02").Down("13fe")
		}, []string{
			"ovn-central/0 10.0.0.10 leader leader active yes", "ovn-central/1 10.0.0.11 down follower standby half", "ovn-central/2 10.0.0.12 follower follower ? yes",
			"(was ovn-central/4) 10.0.0.13 - down ? no",
		}},
		"a server is down here, the other one hears no leader": {func(s *scenario) {
			s.NB, s.SB = serverless(ovndb.Down, ""), observetest.Up("bb00").Down("bb01", "bb02").CutOff()
		}, []string{
			"ovn-central/0 10.0.0.10 down no leader active no", "ovn-central/1 10.0.0.11 ? no answer ? ?", "ovn-central/2 10.0.0.12 ? no answer ? ?",
		}},
		"joining": {func(s *scenario) { s.SB = observetest.Up("bb00").In(raft.JoiningCluster) }, []string{
			"ovn-central/0 10.0.0.10 leader joining active half", "ovn-central/1 10.0.0.11 follower ? standby ?", "ovn-central/2 10.0.0.12 follower ? ? ?",
		}},
	} {
		s := observetest.JoinedBy4(t)
		test.change(&s)
		var got []string
		for _, r := range status.Rows(reporting(s, "standby"), ovndb.NorthdActive) {
			got = append(got, fmt.Sprintf("%s %s %s %s %s %s", r.Unit, r.Address, r.NB, r.SB, r.Northd, r.Up))
		}
		assert.Equal(t, test.want, got, name)
	}
}

// Its beginning is the Python charm's.
func TestHealth(t *testing.T) {
	t.Parallel()
	s := observetest.Three(t)
	health := func(northd bool) string { return status.Health(s.Report(), northd) }
	assert.Equal(t, "leader: ovnnb_db northd: active; 3 of 3 up, 1 may fail", health(true))
	s.SB = observetest.Up("bb00", "bb01").Down("bb02")
	assert.Equal(t, "leader: ovnnb_db, ovnsb_db; nb 3 of 3 up, sb 2 of 3 up, none may fail", health(false))
	s.NB, s.SB = s.NB.Following("aa01"), observetest.Up("bb00", "bb01", "bb02").Following("bb01")
	assert.Equal(t, "northd: active; 3 of 3 up, 1 may fail", health(true))
	s.NB = serverless(ovndb.Down, "")
	assert.Empty(t, health(true))
}

func TestFaultTolerance(t *testing.T) {
	t.Parallel()
	up := observetest.Up
	full := func(m observetest.Members) observetest.Members { m.Full = true; return m }
	for name, test := range map[string]struct {
		nb   observetest.Members
		want string
	}{
		"three up":                               {up("aa00", "aa01", "aa02"), "nb: 1 more of 3 members may fail (3 up)"},
		"one down":                               {up("aa00", "aa01").Down("aa02"), "nb: 0 more of 3 members may fail (2 up)"},
		"no quorum":                              {up("aa00").Down("aa01", "aa02").CutOff(), "nb: no quorum"},
		"an election":                            {up("aa00").Searching("aa01").Down("aa02").CutOff(), "nb: not known"},
		"sole":                                   {up("aa00"), "nb: 0 more of 1 members may fail (1 up)"},
		"sole, and its disk is full":             {full(up("aa00")), "nb: 0 more of 1 members may fail (0 up)"},
		"one down, and this unit's disk is full": {full(up("aa00", "aa01").Down("aa02")), "nb: 0 more of 3 members may fail (1 up)"},
		"joining":                                {observetest.Members{State: raft.JoiningCluster, Role: raft.Follower}, "nb: not known"},
		"one not here":                           {serverless(ovndb.Down, ""), "nb: not known"},
	} {
		s := observetest.Three(t)
		s.NB = test.nb
		assert.Equal(t, []string{test.want, "sb: 1 more of 3 members may fail (3 up)"}, status.Tolerance(s.Report()), name)
	}
}
