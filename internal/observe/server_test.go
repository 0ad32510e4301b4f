package observe_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/netip"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/observe/observetest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// Each condition of a database on the unit, and the identity that the unit may then publish.
func TestObserveServer_conditions_and_identities(t *testing.T) {
	member := relation.Identity{Server: observetest.Full("aa00"), Cluster: observetest.Cluster(ovndb.NB)}
	server, none := relation.Identity{Server: observetest.Full("aa00")}, relation.Identity{}
	is := func(c ovndb.Condition) observetest.Members { return observetest.Members{Condition: c} }
	three := observetest.Three(t).NB
	bb := relation.Identity{Server: observetest.Full("bb00"), Cluster: observetest.Cluster(ovndb.SB)}
	for name, test := range map[string]struct {
		nb        observetest.Members
		left      bool
		condition ovndb.Condition
		identity  relation.Identity
	}{
		"member":     {three, false, ovndb.Serving, member},
		"cut off":    {three.CutOff(), false, ovndb.Serving, member},
		"joining":    {three.In(raft.JoiningCluster), false, ovndb.Serving, member},
		"leaving":    {three.In(raft.LeavingCluster), false, ovndb.Serving, member},
		"absent":     {is(ovndb.Absent), false, ovndb.Absent, none},
		"standalone": {is(ovndb.Standalone), false, ovndb.Standalone, none},
		"left":       {is(ovndb.Left), true, ovndb.Left, none},
		"failed":     {is(ovndb.Failed), false, ovndb.Failed, server},
		"down":       {is(ovndb.Down), false, ovndb.Down, server},
		"down, left": {is(ovndb.Down), true, ovndb.Left, none},
		"denied":     {is(ovndb.Hung), false, ovndb.Unreadable, server},
	} {
		t.Run(name, func(t *testing.T) {
			s := observetest.Three(t)
			s.NB = test.nb
			m := &observetest.Machine{Left: test.left}
			observer := s.ObserverOn(m)
			if name == "denied" {
				m.Errors[ovndb.NB] = "(Permission denied)"
			}
			servers := observer.ObserveServers(t.Context())
			assert.Equal(t, test.condition, servers[ovndb.NB].Condition, "%v", servers[ovndb.NB].Err)
			assert.NotEmpty(t, servers[ovndb.NB].Text())
			own := observer.Identities(t.Context(), servers)
			assert.Equal(t, test.identity, own[ovndb.NB])
			assert.Equal(t, bb, own[ovndb.SB], "the other is not hidden")
		})
	}
}

func TestObserveServer_status_of_other_database_is_ignored(t *testing.T) {
	s := observetest.Three(t)
	m := new(observetest.Machine)
	observer := s.ObserverOn(m)
	m.Answers[ovndb.NB] = m.Answers[ovndb.SB]
	l := observer.ObserveServer(t.Context(), ovndb.NB)
	assert.Equal(t, ovndb.Unreadable, l.Condition)
	assert.ErrorContains(t, l.Err, `"OVN_Southbound"`)
	assert.False(t, l.Member())
}

// After a machine boots, systemd starts the servers, and Juju a hook.
func TestObserveServer_without_socket_is_starting(t *testing.T) {
	s := observetest.Three(t)
	s.NB = observetest.Members{Condition: ovndb.Down}
	l := s.ObserverOn(&observetest.Machine{Starting: true}).ObserveServer(t.Context(), ovndb.NB)
	assert.Equal(t, ovndb.Unreadable, l.Condition, "it may vote before it can be asked")
	assert.True(t, l.Starting)
	assert.ErrorContains(t, l.Err, "4711")
	assert.ErrorContains(t, l.Err, "ovn-ovsdb-server-nb")
}

// S5: the reason why the server does not start is reported, unless the record is about another cluster's file.
func TestObserveServer_refused_by_start_guard(t *testing.T) {
	s := observetest.Three(t)
	s.NB = observetest.Members{Condition: ovndb.Down}
	observer := s.ObserverOn(new(observetest.Machine))
	for cluster, said := range map[string]string{
		"": "given up", string(observetest.Cluster(ovndb.SB)): "",
	} {
		note := `{"cluster": "` + cluster + `", "reason": "given up"}`
		require.NoError(t, os.WriteFile(observer.Control.Paths.StartRefusal(ovndb.NB), []byte(note), 0o600))
		assert.Equal(t, finding.Quote(said), observer.ObserveServer(t.Context(), ovndb.NB).Cause, note)
	}
}

// A server continues to write to a file that was deleted or moved away, and no status shows it. No server could start
// with these entries.
func TestMissingEntries_file_is_gone(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		scenario func(s *observetest.Scenario)
		// ends: the server ends during the observation, since its unit moves its file away.
		ends bool
		want finding.ReasonCode
	}{
		"a member":       {func(*observetest.Scenario) {}, false, finding.FileMissing},
		"ending_server":  {func(*observetest.Scenario) {}, true, ""},
		"joining_server": {func(s *observetest.Scenario) { s.NB = s.NB.In(raft.JoiningCluster) }, false, ""},
		"leaving_server": {func(s *observetest.Scenario) { s.NB = s.NB.In(raft.LeavingCluster) }, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, m := observetest.Three(t), new(observetest.Machine)
			test.scenario(&s)
			observer := s.ObserverOn(m)
			l := observer.ObserveServer(t.Context(), ovndb.NB)
			require.Equal(t, ovndb.Serving, l.Condition, "the premise")
			path := observer.Files.Paths.File(ovndb.NB)
			require.NoError(t, os.Remove(path))
			if test.ends {
				m.Errors[ovndb.NB] = `ovs-appctl: cannot connect to "ovnnb_db.ctl" (Connection refused)`
			}
			synctest.Test(t, func(t *testing.T) {
				missing, err := observer.MissingEntries(t.Context(), l)
				require.NoError(t, err)
				assert.Equal(t, test.want, missing.Code)
				assert.Equal(t, test.want != "", missing.Value == path)
			})
		})
	}
}

// An earlier observation is immutable: both are compared.
func TestRefresh_keeps_earlier_snapshot(t *testing.T) {
	s := observetest.Three(t)
	observer := s.ObserverOn(new(observetest.Machine))
	published := relation.UnitIdentities{
		s.Unit:          {ovndb.SB: {Server: observetest.Full("bb0f")}},
		"ovn-central/1": {ovndb.NB: {Server: observetest.Full("aa01")}},
	}
	application := s.Application()
	application.Published = maps.Clone(published)
	before := observe.Snapshot{
		Application: application,
		Cache: observe.Cache{
			Published: application.Published, Configurations: map[ovndb.Database]relation.Configuration{},
		},
	}

	after := observer.Refresh(t.Context(), before)
	assert.Equal(t, observetest.Full("aa00"), after.Own[ovndb.NB].Server, "observed again")
	assert.Equal(t, published, before.Application.Published)
	assert.Equal(t, published, before.Cache.Published)
}

func TestForgetServers_keeps_snapshot(t *testing.T) {
	s := observetest.Three(t)
	observer := s.ObserverOn(new(observetest.Machine))
	published := relation.UnitIdentities{s.Unit: {ovndb.NB: {Server: observetest.Full("aa00")}}}
	cache := observe.Cache{Published: maps.Clone(published)}

	observer.ForgetServers(t.Context(), cache, relation.Identities{})
	assert.Equal(t, published, cache.Published)
	assert.Empty(t, observer.LoadCache(t.Context()).Published[s.Unit])
}

func TestScenario_matches_observer(t *testing.T) {
	s := observetest.Three(t)
	s.SB = observetest.Up("bb00", "bb01").Down("bb02") // a leader need not ask another member
	report, observer := s.Report(), s.Observer()
	observer.Files.Paths = ovndb.Paths{Run: t.TempDir(), DB: t.TempDir()}
	servers := map[ovndb.Database]observe.ServerState{}
	for _, c := range report.Clusters {
		servers[c.Database] = c.ServerState
		file := observetest.FileUpTo(c.Status.Log.End-1, c.Database, c.Status.Server, c.Status.Cluster, nil)
		require.NoError(t, os.WriteFile(observer.Files.Paths.File(c.Database), file, 0o600))
	}
	found := observer.Report(t.Context(), s.Application(), servers)
	require.Len(t, found.Clusters, 2)
	for i, c := range found.Clusters {
		require.Equal(t, report.Clusters[i].Rows, c.Rows)
		require.Equal(t, report.Clusters[i].Quorum, c.Quorum)
	}
}

// bindings are the addresses of each binding, in the form of network-get.
type bindings map[string]string

func (b bindings) Run(_ context.Context, c run.Command) ([]byte, error) {
	var listed, plain []string
	for address := range strings.FieldsSeq(b[c.Args[len(c.Args)-1]]) {
		listed, plain = append(listed, fmt.Sprintf(`{"value":%q}`, address)), append(plain, fmt.Sprintf("%q", address))
	}
	return fmt.Appendf(nil, `{"bind-addresses":[{"interface-name":"eth0","addresses":[%s]}],"ingress-addresses":[%s]}`,
		strings.Join(listed, ","), strings.Join(plain, ",")), nil
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		peer, clients string
		primary, all  string
	}{
		"one_address":  {"10.0.0.1", "10.0.0.1", "10.0.0.1", "10.0.0.1"},
		"two_families": {"10.0.0.1 fd42::1", "10.0.0.1 fd42::1", "10.0.0.1", "10.0.0.1 fd42::1"},
		"two_spaces":   {"10.0.0.1 10.0.0.9", "10.9.0.1", "10.0.0.1 10.9.0.1", "10.0.0.1 10.0.0.9 10.9.0.1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := &observe.Observer{Machine: &observe.Machine{Log: slog.New(slog.DiscardHandler)}}
			a, err := o.Addresses(
				t.Context(), juju.New(bindings{"ovsdb-peer": tt.peer, "ovsdb-cms": tt.peer, "ovsdb": tt.clients}), nil, true, false,
			)
			require.NoError(t, err)
			assert.Equal(t, "10.0.0.1", a.Own.String())
			words := func(all []netip.Addr) string { return strings.Trim(fmt.Sprint(all), "[]") }
			assert.Equal(t, [2]string{tt.primary, tt.all}, [2]string{words(a.Primary), words(a.All)})
		})
	}
}
