package action

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/goldentest"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// seen is a captured status of a real server, with facts about its members.
type seen struct {
	fixture string
	// units are the units of the members, by identity: "ovn-central/0", a unit that is "dying", or a former one ("was
	// ovn-central/4"). Other members belong to no unit.
	units map[string]string
	// answers are the members that answer on their client port.
	answers []string
	// silent is a unit that has yet to publish its data.
	silent string
}

// cluster returns the observation of the status.
func (s seen) cluster(t *testing.T) observe.Cluster {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "raft", "testdata", "cluster-status", s.fixture+".txt"))
	require.NoError(t, err)
	status, err := raft.Parse(string(text))
	require.NoError(t, err)

	d := ovndb.Database(status.Name)
	model := observe.Application{
		Goal: map[string]juju.UnitGoal{}, Published: relation.UnitIdentities{},
		History: relation.History{d: {}},
	}
	if s.silent != "" {
		model.Goal[s.silent] = juju.UnitGoal{Status: "waiting"}
	}
	view := raft.View{Status: status}
	for _, m := range status.Servers {
		id := raft.ID(m.Short + "0c1a-4b2d-4e3f-8a5b-6c7d8e9f0a1b")
		if m.Self {
			id = status.Server
		}
		name, how, _ := strings.Cut(s.units[m.Short], " ")
		switch {
		case name == "was":
			model.History[d][id] = relation.ServerRecord{Unit: how}
		case name != "":
			model.Goal[name] = juju.UnitGoal{Status: how}
			model.Published[name] = relation.Identities{d: {Server: id}, d.Other(): {Server: id}}
		}
		for _, short := range s.answers {
			if short == m.Short {
				view.Probes = append(view.Probes, raft.ProbeResult{
					Address: m.Address, Server: id, Cluster: status.Cluster,
					Connected: true,
				})
			}
		}
	}
	model.History = model.History.Publish(model.Published)
	view.Names = model.Names(d)

	c := observe.Cluster{
		ServerState: observe.ServerState{Database: d, Condition: ovndb.Serving, Status: status},
		View:        view, Quorum: view.Quorum(),
	}
	for _, p := range view.Peers() {
		o := model.Owner(d, p)
		c.Rows = append(c.Rows, observe.Row{Peer: p, Owner: o, Leaving: o.Unit != "" && model.Dying(o.Unit)})
	}
	return c
}

func local(d ovndb.Database, c ovndb.Condition, err error) observe.Cluster {
	return observe.Cluster{ServerState: observe.ServerState{Database: d, Condition: c, Err: err}}
}

// withFacts adds facts about this unit's own server.
func withFacts(c observe.Cluster) observe.Cluster {
	c.Facts = &observe.ServerFacts{
		Schemas: ovndb.Schemas{Served: "6.3.0", Packages: "7.0.0", Older: true},
		Storage: &raftfile.Storage{Size: 12 << 20, Compacted: 4 << 20, Written: time.Date(2026, 11, 23, 9, 8, 7, 0,
			time.UTC)},
		LongPolls: &ovsctl.LongPolls{Count: 2, Longest: 2500 * time.Millisecond},
	}
	return c
}

func clusters(t *testing.T) map[string]observe.Cluster {
	t.Helper()
	return map[string]observe.Cluster{
		"leader with one dead, of no unit": seen{
			fixture: "nb-leader-one-of-three-dead",
			units:   map[string]string{"3494": "ovn-central/0", "847c": "ovn-central/1"},
		}.cluster(t),
		"leader with a stale and a new member at one address": seen{
			fixture: "nb-leader-stale-and-new-same-address",
			units: map[string]string{
				"8db1": "ovn-central/0", "697f": "ovn-central/1", "7f3d": "ovn-central/2",
				"89b2": "was ovn-central/2",
			},
		}.cluster(t),
		"leader with a member that does not store": seen{fixture: "nb-leader-with-disk-full-follower"}.cluster(t),
		"follower, one leaving, one not known yet": seen{
			fixture: "sb-5member-follower-one-dead",
			units: map[string]string{
				"6c29": "ovn-central/0", "a00e": "ovn-central/1", "5bb3": "ovn-central/2 dying", "617e": "was ovn-central/3",
			},
			answers: []string{"a00e", "5bb3", "617e"}, silent: "ovn-central/10",
		}.cluster(t),
		"follower by IPv6":             seen{fixture: "nb-ipv6-follower2"}.cluster(t),
		"no quorum":                    seen{fixture: "nb-no-quorum-candidate-survivor"}.cluster(t),
		"member being added":           seen{fixture: "nb-leader-adding-committing"}.cluster(t),
		"removals pending":             seen{fixture: "nb-leader-two-removals-pending"}.cluster(t),
		"joining":                      seen{fixture: "nb-joining-remote-unreachable"}.cluster(t),
		"leaving":                      seen{fixture: "nb-leaving-ex-leader-3member"}.cluster(t),
		"server whose schema is older": withFacts(seen{fixture: "nb-single-server", units: map[string]string{}}.cluster(t)),
		"absent":                       local(ovndb.NB, ovndb.Absent, nil),
		"down":                         local(ovndb.SB, ovndb.Down, errors.New("server is not running")),
		"hung": local(ovndb.SB, ovndb.Hung,
			errors.New("cannot ask OVN_Southbound's server for cluster/status: server does not answer within 5s")),
		"left": local(ovndb.NB, ovndb.Left, nil),
		"unreadable answer": local(ovndb.NB, ovndb.Unreadable,
			errors.New("cannot read cluster/status: it is empty")),
		"standalone, unmanaged": local(ovndb.NB, ovndb.Standalone, nil),
	}
}

func TestClusterStatus_formats(t *testing.T) {
	render := func(t *testing.T, format string, c observe.Cluster) string {
		t.Helper()
		text, err := shownCluster(format, c)
		require.NoError(t, err)
		return text + "\n"
	}
	golden := strings.NewReplacer(" ", "-", ",", "")
	for name, c := range clusters(t) {
		t.Run(name, func(t *testing.T) {
			goldentest.Equal(t, golden.Replace(name)+".txt", render(t, "text", c))
			assert.YAMLEq(t, render(t, "json", c), render(t, "yaml", c))
		})
	}
	for _, name := range []string{"absent", "no quorum", "removals pending", "server whose schema is older"} {
		goldentest.Equal(t, golden.Replace(name)+".json", render(t, "json", clusters(t)[name]))
	}
}

// shipped are the keys of the Python charm's document, in its order; others may follow.
var shipped = []string{
	"name", "cluster_id", "server_id", "address", "status", "role", "term", "leader", "vote", "election_timer", "log",
	"entries_not_yet_committed", "entries_not_yet_applied", "connections", "servers", "unit_map",
}

func TestClusterStatus_keys_of_Python_charm(t *testing.T) {
	for name, c := range clusters(t) {
		if c.Condition != ovndb.Serving {
			continue
		}
		text, err := shownCluster("yaml", c)
		require.NoError(t, err)
		var keys []string
		for line := range strings.Lines(text) {
			if key, _, ok := strings.Cut(line, ":"); ok && !strings.HasPrefix(line, " ") && !strings.HasPrefix(line, "-") {
				keys = append(keys, key)
			}
		}
		require.GreaterOrEqual(t, len(keys), len(shipped), name)
		assert.Equal(t, shipped, keys[:len(shipped)], name)
	}
}
