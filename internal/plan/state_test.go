package plan_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// The application's clusters, and a foreign one.
const (
	nbCluster    raft.ID = "cccc0001-0000-4000-8000-000000000000"
	sbCluster    raft.ID = "cccc0002-0000-4000-8000-000000000000"
	otherCluster raft.ID = "dddd0009-0000-4000-8000-000000000000"
)

func clusterOf(db ovndb.Database) raft.ID {
	if db == ovndb.SB {
		return sbCluster
	}
	return nbCluster
}

// serverOf returns the ID of unit N's server.
func serverOf(db ovndb.Database, n int) raft.ID {
	return raft.ID(
		fmt.Sprintf("%s00%d0000-0000-4000-8000-000000000000", map[ovndb.Database]string{ovndb.NB: "a", ovndb.SB: "b"}[db], n),
	)
}

func addressOf(n int) string { return fmt.Sprintf("10.0.0.%d", n) }

// well returns the state of ovn-central/0, one of three units, without a next step. It leads nb.
func well() plan.State {
	s := plan.State{
		Now: noon, Unit: "ovn-central/0", Address: addressOf(0), Units: 3,
		Settings: plan.Settings{
			ElectionTimer: 4 * time.Second, InactivityProbe: time.Minute, Source: "caracal", AutoRestarts: true,
		},
		Packages: plan.Packages{
			Installed: true, Source: applied("caracal"), Version: ovndb.Version{OVN: "24.03", OVS: "3.3"},
		},
		Services: map[ovndb.Service]plan.ServiceState{
			ovndb.Northd: {Active: true}, ovndb.Umbrella: {Active: true, Enabled: true},
		},
		Certificates: plan.Certificates{
			Related: true, Provider: "vault/0", Issued: certificate("cert0", "A"), Used: certificate("cert0", "A"),
		},
		Clusters: relation.Clusters{
			IDs: map[ovndb.Database]raft.ID{ovndb.NB: nbCluster, ovndb.SB: sbCluster}, CreatedBy: "ovn-central/2",
		},
		Databases: map[ovndb.Database]plan.Database{},
		Peers:     []plan.Peer{peer(1), peer(2)},
		Defaults:  plan.InSync, NorthdParams: plan.InSync, Firewall: plan.InSync,
		Northds: plan.Northd{Found: plan.NorthdActive, Unit: "ovn-central/1"},
	}
	s.Databases[ovndb.NB], s.Databases[ovndb.SB] = serving(ovndb.NB, 0), serving(ovndb.SB, 1)
	return s
}

func certificate(fingerprint, issuer string, alsoTrusts ...string) *plan.Certificate {
	return &plan.Certificate{
		Fingerprint: fingerprint, Issuer: issuer, Trusts: append([]string{issuer}, alsoTrusts...),
		NotAfter: noon.AddDate(1, 0, 0),
	}
}

// published is data of a unit that is neither unread nor empty.
var published = relation.Read(map[string]string{"bound-address": "set"})

func peer(n int) plan.Peer {
	return plan.Peer{
		Unit: fmt.Sprintf("ovn-central/%d", n), Data: published, UnitState: relation.UnitState{
			Address: netip.MustParseAddr(addressOf(n)), Source: applied("caracal"),
			Running: []ovndb.Version{{OVN: "24.03", OVS: "3.3"}}, Trusts: []string{"A"}, Issuer: "A",
		},
		Servers:  map[ovndb.Database]raft.ID{ovndb.NB: serverOf(ovndb.NB, n), ovndb.SB: serverOf(ovndb.SB, n)},
		Clusters: map[ovndb.Database]raft.ID{ovndb.NB: nbCluster, ovndb.SB: sbCluster},
	}
}

// serving returns ovn-central/0's state of a database that the server of unit leader leads.
func serving(db ovndb.Database, leader int) plan.Database {
	cluster := clusterOf(db)
	st := raft.Status{
		Name: string(db), Cluster: cluster, Server: serverOf(db, 0), Address: ovndb.RaftAddress(db, addressOf(0)),
		State: raft.ClusterMember, Role: raft.Follower, Leader: raft.Ref(serverOf(db, leader).Short()),
		ElectionTimer: 4 * time.Second,
	}
	x := plan.Database{Condition: ovndb.Serving, Cluster: cluster, ClientsServed: true}
	if leader == 0 {
		st.Role, st.Leader = raft.Leader, raft.Self
		x.Listeners, x.Schema = plan.InSync, plan.InSync
	}
	for n := range 3 {
		id := serverOf(db, n)
		st.Servers = append(
			st.Servers, raft.Member{Short: id.Short(), Address: ovndb.RaftAddress(db, addressOf(n)), Self: n == 0},
		)
		if n > 0 {
			st.Connections = append(st.Connections, raft.Connection{Peer: id.Short(), Incoming: true, Up: true})
		}
	}
	x.Status = st
	return x
}

// change modifies a state.
type change = func(*plan.State)

// all combines several changes.
func all(changes ...change) change {
	return func(s *plan.State) {
		for _, change := range changes {
			change(s)
		}
	}
}

// nb and sb return changes of the unit's state of one database.
func nb(change func(*plan.Database)) change { return func(s *plan.State) { edit(s, ovndb.NB, change) } }

func sb(change func(*plan.Database)) change { return func(s *plan.State) { edit(s, ovndb.SB, change) } }

// only returns a change that replaces the state of nb.
func only(x plan.Database, more ...change) change {
	return all(append([]change{func(s *plan.State) { set(s, x, ovndb.NB) }}, more...)...)
}

// invalid returns a change that makes options invalid.
func invalid(options ...string) change {
	return func(s *plan.State) {
		s.Invalid = map[string]finding.Args{}
		for _, option := range options {
			s.Invalid[option] = finding.Args{Value: "invalid"}
		}
	}
}

// edit changes a unit's state of a database.
func edit(s *plan.State, db ovndb.Database, change func(*plan.Database)) {
	x := s.Databases[db]
	change(&x)
	s.Databases[db] = x
}

// set replaces both databases, or one.
func set(s *plan.State, x plan.Database, databases ...ovndb.Database) {
	for _, db := range databases {
		s.Databases[db] = x
	}
}

// silence ends the connections of unit n to this unit's servers.
func silence(s *plan.State, n int) {
	for _, db := range ovndb.Databases() {
		edit(s, db, func(x *plan.Database) {
			var rest []raft.Connection
			for _, c := range x.Status.Connections {
				if c.Peer != serverOf(db, n).Short() {
					rest = append(rest, c)
				}
			}
			x.Status.Connections = rest
		})
	}
}

// applied returns the form of a source that units publish.
func applied(source string) string { return plan.Settings{Source: source}.AllSources() }

// decided is a decision in a comparable form.
type decided struct {
	step plan.Kind
	// args are the arguments of the step: database, services, timer and code.
	args string
	// found are the findings in the form of [brief].
	found []string
	ready bool
}

// finds returns a decision without a step, does one with a step; ready and works are the decisions of a ready unit.
func finds(found ...string) decided { return decided{found: found} }

func ready(found ...string) decided { return decided{found: found, ready: true} }

// nextHook is the remedy of what the next hook of the unit repairs.
const nextHook = " -> BEFORE_ITS_NEXT_HOOK: ovn-central/0 resume"

func does(step plan.Kind, args string, found ...string) decided {
	return decided{step, args, found, false}
}

func works(step plan.Kind, args string, found ...string) decided {
	return decided{step, args, found, true}
}

func decide(s plan.State) decided {
	d := plan.Decide(s)
	got := decided{ready: d.Ready}
	for _, f := range d.Findings {
		got.found = append(got.found, findingtest.Brief(f))
	}
	if step := d.Step; step != nil {
		var args []string
		if step.Database != "" {
			args = append(args, step.Database.Short())
		}
		for _, service := range append(step.Services, step.Service) {
			args = append(args, string(service))
		}
		if step.Timer != 0 {
			args = append(args, step.Timer.String())
		}
		args = append(args, string(step.Why.Code))
		got.step = step.Kind
		got.args = strings.Join(slices.DeleteFunc(args, func(arg string) bool { return arg == "" }), " ")
	}
	return got
}

// Remedies in the form of [findingtest.Brief].
const (
	makeSpace          = " -> " + string(finding.MakeSpace)
	makeSpaceOrReplace = makeSpace + " -> IF_NO_SPACE: add-unit ovn-central remove-unit ovn-central/0"
	makeSpaceThere     = " -> " + string(finding.MakeSpaceThere)
	moveAway           = " -> " + string(finding.MoveAway)
	restoreFile        = " -> " + string(finding.RestoreFile)
	stopOldServer      = " -> " + string(finding.StopOldServer)
	removeUnits        = " -> " + string(finding.RemoveUnits)
	deployAgain        = " -> " + string(finding.DeployAgain)
	reissue            = " -> vault/leader reissue-certificates"
	replaceUnit        = " -> add-unit ovn-central remove-unit ovn-central/0"
	rejoinNB           = " -> ovn-central/0 rejoin database=nb"

	paused        = "warning PAUSED -> ovn-central/0 resume"
	unrelated     = "error CERTIFICATES_MISSING -> integrate ovn-central:certificates vault"
	invalidSource = "error OPTION_INVALID source Value=invalid -> config ovn-central --reset source"

	nbServer = string(ovndb.NorthboundServer)
	sbServer = string(ovndb.SouthboundServer)
)

// situation is a state, given as a change to a healthy one, and the expected decision.
type situation struct {
	change change
	want   decided
}

func check(t *testing.T, situations map[string]situation) {
	t.Helper()
	for name, tt := range situations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := well()
			tt.change(&s)
			assert.Equal(t, tt.want, decide(s), "by rules %q", plan.Decide(s).Rules)
		})
	}
}
