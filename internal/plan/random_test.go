package plan_test

import (
	"math/rand/v2"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// randomState returns a healthy unit with up to seven differences.
func randomState(r *rand.Rand) plan.State {
	s := well()
	s.Peers[0].Rejoin, s.Peers[1].Requests = map[ovndb.Database]raft.ID{}, map[ovndb.Database]recovery.Request{}
	for range 1 + r.IntN(7) {
		differ(r, &s)
	}
	return s
}

// differ changes one thing. Half of the changes are of a database.
func differ(r *rand.Rand, s *plan.State) {
	if r.IntN(2) == 0 {
		unitChanges[r.IntN(len(unitChanges))](r, s)
		return
	}
	db := ovndb.Databases()[r.IntN(2)]
	x := s.Databases[db]
	databaseChanges[r.IntN(len(databaseChanges))](r, db, &x)
	s.Databases[db] = x
}

func one[T any](r *rand.Rand, all ...T) T { return all[r.IntN(len(all))] }

// anyPeer changes one or both peers.
func anyPeer(change func(r *rand.Rand, p *plan.Peer)) func(*rand.Rand, *plan.State) {
	return func(r *rand.Rand, s *plan.State) {
		all := r.IntN(2) == 0
		for i := range s.Peers {
			if all || r.IntN(2) == 0 {
				change(r, &s.Peers[i])
			}
		}
	}
}

var northds = []ovndb.NorthdHealth{
	ovndb.NorthdActive, ovndb.NorthdStandby, ovndb.NorthdPaused, ovndb.NorthdUnresponsive, ovndb.NorthdHealth(""),
}

var unitChanges = []func(*rand.Rand, *plan.State){
	func(_ *rand.Rand, s *plan.State) { s.Dying = true },
	func(_ *rand.Rand, s *plan.State) { s.Dying, s.Paused, s.Resumed = true, false, true },
	func(_ *rand.Rand, s *plan.State) { s.JujuLeader = !s.JujuLeader },
	func(_ *rand.Rand, s *plan.State) { s.JujuLeader = true },
	func(_ *rand.Rand, s *plan.State) { s.Problem = finding.Quote("no ID") },
	func(_ *rand.Rand, s *plan.State) { s.Disk = "no space left" },
	func(_ *rand.Rand, s *plan.State) { s.Paused = true },
	func(r *rand.Rand, s *plan.State) {
		s.NorthdHeld, s.Northds.Found = true, one(r, plan.NorthdNone, plan.NorthdActive)
	},
	func(_ *rand.Rand, s *plan.State) { s.Address = "" },
	func(_ *rand.Rand, s *plan.State) { s.Better = addressOf(7) },
	func(r *rand.Rand, s *plan.State) {
		option := one(r, plan.OptionSource, plan.OptionElectionTimer, plan.OptionInactivityProbe, plan.OptionExporter)
		s.Invalid = map[string]finding.Args{option: {Value: "invalid"}}
	},
	func(_ *rand.Rand, s *plan.State) {
		s.Invalid = map[string]finding.Args{plan.OptionElectionTimer: {Value: "invalid"}}
		edit(s, ovndb.NB, func(x *plan.Database) { x.Schema, x.Size = plan.Drifted, 80<<20 })
	},
	func(_ *rand.Rand, s *plan.State) { s.Packages = plan.Packages{} },
	func(_ *rand.Rand, s *plan.State) {
		s.Packages = plan.Packages{Source: applied("caracal"), Version: ovndb.Version{OVN: "23.03", OVS: "3.1"}}
	},
	func(_ *rand.Rand, s *plan.State) { s.Packages.Installed, s.Packages.Unavailable = false, true },
	func(_ *rand.Rand, s *plan.State) { s.Packages.Unavailable = true },
	func(_ *rand.Rand, s *plan.State) { s.Packages.Adopted = true },
	func(_ *rand.Rand, s *plan.State) { s.Settings.Source = "dalmatian" },
	func(r *rand.Rand, s *plan.State) {
		s.Settings.ElectionTimer = time.Duration(1+r.IntN(16)) * time.Second
	},
	func(_ *rand.Rand, s *plan.State) { s.Settings.InactivityProbe = 0 },
	func(_ *rand.Rand, s *plan.State) { s.Settings.AutoRestarts = false },
	func(r *rand.Rand, s *plan.State) {
		s.Pending = map[ovndb.Service]string{one(r, plan.RestartOrder()...): "upgrade"}
	},
	func(r *rand.Rand, s *plan.State) {
		s.Services = map[ovndb.Service]plan.ServiceState{one(r, ovndb.Northd, ovndb.Umbrella): {Active: true, Enabled: true}}
	},
	func(r *rand.Rand, s *plan.State) { s.Defaults = one(r, plan.Drifted, plan.NeedsRestart) },
	func(r *rand.Rand, s *plan.State) { s.NorthdParams = one(r, plan.Drifted, plan.NeedsRestart) },
	func(_ *rand.Rand, s *plan.State) { s.Firewall = plan.Drifted },
	func(r *rand.Rand, s *plan.State) {
		s.Northd = one(r, northds...)
		s.Services[ovndb.Northd] = plan.ServiceState{Active: r.IntN(4) > 0}
		s.Northds = plan.Northd{
			Found: one(r, plan.NorthdNone, plan.NorthdUnknown, plan.NorthdActive), Unit: "ovn-central/1",
			Standby: r.IntN(2) == 0, Since: noon.Add(-time.Hour), Asked: noon, Answered: r.IntN(2) == 0,
		}
	},
	// Certificates.
	func(_ *rand.Rand, s *plan.State) { s.Certificates.Related = false },
	func(_ *rand.Rand, s *plan.State) { s.Certificates.Issued = nil },
	func(_ *rand.Rand, s *plan.State) { s.Certificates.Used = nil },
	func(r *rand.Rand, s *plan.State) {
		c := certificate(one(r, "cert0", "cert1"), one(r, "A", "B"))
		c.Problem, c.Lacks = finding.Quote(one(r, "", "", "malformed")), finding.Quote(one(r, "", "", "it lacks an address"))
		s.Certificates.Issued = c
	},
	func(r *rand.Rand, s *plan.State) {
		c := certificate(one(r, "cert0", "cert1"), one(r, "A", "B"), one(r, "A", "B"))
		c.Problem, c.Lacks = finding.Quote(one(r, "", "", "malformed")), finding.Quote(one(r, "", "", "it lacks an address"))
		c.NotAfter = one(r, noon, c.NotAfter)
		s.Certificates.Used = c
	},
	// Clusters.
	func(_ *rand.Rand, s *plan.State) { s.Clusters = relation.Clusters{} },
	func(_ *rand.Rand, s *plan.State) { s.Clusters = relation.Clusters{} },
	func(r *rand.Rand, s *plan.State) { s.Clusters.CreatedBy = one(r, "", s.Unit, "ovn-central/9") },
	func(r *rand.Rand, s *plan.State) {
		s.Clusters.IDs = map[ovndb.Database]raft.ID{
			ovndb.NB: one(r, nbCluster, otherCluster), ovndb.SB: one(r, sbCluster, otherCluster),
		}
	},
	func(r *rand.Rand, s *plan.State) {
		s.Clusters.Superseded = map[ovndb.Database][]raft.ID{ovndb.NB: {one(r, nbCluster, otherCluster)}}
	},
	func(_ *rand.Rand, s *plan.State) { s.Unrelated = true },
	func(r *rand.Rand, s *plan.State) { s.Claim = one(r, nbCluster, otherCluster) },
	func(_ *rand.Rand, s *plan.State) { s.ClaimsUnread = true },
	func(r *rand.Rand, s *plan.State) {
		for _, db := range ovndb.Databases() {
			edit(s, db, func(x *plan.Database) {
				*x = plan.Database{Condition: ovndb.Absent, Staged: one(r, "", clusterOf(db), otherCluster)}
			})
		}
	},
	func(r *rand.Rand, s *plan.State) {
		for _, db := range ovndb.Databases() {
			set(s, down(one(r, "", clusterOf(db)), plan.File{Sole: r.IntN(2) == 0}), db)
		}
	},
	// Peers.
	func(_ *rand.Rand, s *plan.State) { s.Peers, s.Units = nil, 1 },
	func(_ *rand.Rand, s *plan.State) { silence(s, 1) },
	anyPeer(func(_ *rand.Rand, p *plan.Peer) { p.Dying = true }),
	anyPeer(func(r *rand.Rand, p *plan.Peer) { p.Data = one(r, relation.Data{}, relation.Read(nil)) }),
	anyPeer(func(_ *rand.Rand, p *plan.Peer) { p.Servers, p.Clusters = nil, nil }),
	anyPeer(func(_ *rand.Rand, p *plan.Peer) { p.Servers, p.Clusters = nil, nil }),
	anyPeer(func(_ *rand.Rand, p *plan.Peer) { p.Clusters = nil }),
	anyPeer(func(r *rand.Rand, p *plan.Peer) {
		p.Clusters = map[ovndb.Database]raft.ID{one(r, ovndb.Databases()...): one(r, nbCluster, otherCluster)}
	}),
	anyPeer(func(r *rand.Rand, p *plan.Peer) { p.Claim = one(r, nbCluster, otherCluster) }),
	anyPeer(func(r *rand.Rand, p *plan.Peer) {
		p.Trusts, p.Issuer = one(r, []string{"A", "B"}, nil), one(r, "A", "B", "")
	}),
	anyPeer(func(r *rand.Rand, p *plan.Peer) { p.Source = one(r, "", applied("dalmatian")) }),
	anyPeer(func(r *rand.Rand, p *plan.Peer) { p.Running = one(r, nil, []ovndb.Version{{OVN: "22.03"}}) }),
	anyPeer(func(_ *rand.Rand, p *plan.Peer) { p.NoRoom = map[ovndb.Database]bool{ovndb.NB: true} }),
	anyPeer(func(r *rand.Rand, p *plan.Peer) {
		db := one(r, ovndb.Databases()...)
		p.Rejoin = map[ovndb.Database]raft.ID{db: p.Servers[db]}
	}),
	func(r *rand.Rand, s *plan.State) {
		s.Members = map[ovndb.Database][]string{ovndb.NB: {ovndb.RaftAddress(ovndb.NB, addressOf(r.IntN(3)))}}
	},
	// Recoveries.
	func(r *rand.Rand, s *plan.State) {
		s.Refused = map[ovndb.Database]finding.Finding{
			one(r, ovndb.Databases()...): finding.New(finding.RecoveryDying, finding.Subject{}, finding.Args{}),
		}
	},
	recovering, recovering, recovering,
	// A cluster that no unit reports to have.
	func(r *rand.Rand, s *plan.State) {
		fresh(false, func(*plan.State) {})(s)
		s.Clusters = well().Clusters
		s.Clusters.CreatedBy = one(r, "", s.Unit, "ovn-central/9")
	},
	// Two claims.
	func(r *rand.Rand, s *plan.State) {
		fresh(r.IntN(2) == 0, func(*plan.State) {})(s)
		s.Clusters = relation.Clusters{
			IDs: map[ovndb.Database]raft.ID{ovndb.NB: nbCluster, ovndb.SB: sbCluster}, CreatedBy: s.Unit,
		}
		staged(nbCluster, sbCluster)(s)
		if len(s.Peers) > 0 {
			s.Peers[0].Claim = otherCluster
			s.Peers[0].Clusters = map[ovndb.Database]raft.ID{ovndb.NB: otherCluster, ovndb.SB: otherCluster}
		}
	},
	// An application without clusters; one in which another unit has claimed other clusters.
	func(_ *rand.Rand, s *plan.State) { fresh(true, func(*plan.State) {})(s) },
	func(r *rand.Rand, s *plan.State) {
		fresh(true, func(*plan.State) {})(s)
		set(s, plan.Database{Condition: ovndb.Left, Staged: one(r, "", nbCluster)}, ovndb.NB)
	},
	func(r *rand.Rand, s *plan.State) {
		fresh(true, func(*plan.State) {})(s)
		anyPeer(func(_ *rand.Rand, p *plan.Peer) { p.Data = relation.Data{} })(r, s)
	},
	func(r *rand.Rand, s *plan.State) {
		fresh(false, func(*plan.State) {})(s)
		s.Clusters.IDs = map[ovndb.Database]raft.ID{ovndb.NB: otherCluster, ovndb.SB: otherCluster}
		s.Claim = nbCluster
		for _, db := range ovndb.Databases() {
			set(s, down(clusterOf(db), plan.File{WasMember: r.IntN(2) == 0}), db)
		}
	},
}

// recovering adds a recovery of nb.
func recovering(r *rand.Rand, s *plan.State) {
	request := &recovery.Request{Cluster: nbCluster, GivenUp: []string{"ovn-central/0", "ovn-central/2"}}
	if r.IntN(2) == 0 {
		request.New = otherCluster
	}
	state := recovery.State{
		Database: ovndb.NB, Unit: s.Unit, Dying: s.Dying, JujuLeader: s.JujuLeader, Now: noon, Cluster: nbCluster,
		Own:     &recovery.Copy{Cluster: nbCluster, Term: 2, Index: 9, Stopped: r.IntN(2) == 0},
		HeldFor: one(r, "", s.Unit, "ovn-central/1"),
		Peers: []recovery.Peer{
			{
				Unit: "ovn-central/1", Read: r.IntN(4) > 0, Reached: true,
				Copy: &recovery.Copy{Cluster: nbCluster, Term: 2, Index: 9, Stopped: true},
			},
		},
		Members: []recovery.Member{
			{ID: "00aa", Unit: s.Unit, Exists: true}, {ID: "00bb", Unit: "ovn-central/1", Exists: true},
		},
	}
	by := one(r, "", s.Unit, "ovn-central/1")
	switch by {
	case s.Unit:
		state.Request = request
	case "ovn-central/1":
		state.Peers[0].Request = request
	}
	if r.IntN(3) > 0 {
		state.Accepted = recovery.Acceptance{Cluster: nbCluster, Unit: by, By: s.Unit, At: noon}
		request.Heard = state.Accepted
	}
	s.Recovery = map[ovndb.Database]recovery.State{ovndb.NB: state}
}

var conditions = []ovndb.Condition{
	ovndb.Absent, ovndb.Down, ovndb.Down, ovndb.Left, ovndb.Failed, ovndb.Standalone, ovndb.Hung, ovndb.Unreadable,
}

var databaseChanges = []func(*rand.Rand, ovndb.Database, *plan.Database){
	func(r *rand.Rand, db ovndb.Database, x *plan.Database) {
		*x = down(clusterOf(db), plan.File{Damage: finding.Quote("a gap")})
		x.Removed, x.TooNew = r.IntN(2) == 0, r.IntN(2) == 0
	},
	func(r *rand.Rand, _ ovndb.Database, x *plan.Database) {
		x.Condition, x.Why = one(r, conditions...), finding.Quote("text")
	},
	func(r *rand.Rand, db ovndb.Database, x *plan.Database) {
		*x = down(clusterOf(db), plan.File{Address: one(r, "", "ssl:1.2.3.4:6643")})
	},
	func(r *rand.Rand, db ovndb.Database, x *plan.Database) {
		*x = plan.Database{
			Condition: ovndb.Absent, Staged: one(r, "", clusterOf(db), otherCluster), Rival: one(r, "", "", "ssl:10.0.0.9:6643"),
		}
	},
	func(r *rand.Rand, db ovndb.Database, x *plan.Database) {
		*x = down(
			clusterOf(db),
			plan.File{
				Damage: finding.Quote(one(r, "", "a gap")), Outside: r.IntN(2) == 0, WasMember: r.IntN(2) == 0, Sole: r.IntN(2) == 0,
			},
		)
	},
	func(r *rand.Rand, _ ovndb.Database, x *plan.Database) {
		x.Cluster = one(r, "", nbCluster, otherCluster)
	},
	func(_ *rand.Rand, _ ovndb.Database, x *plan.Database) { x.File.Damage = finding.Quote("a gap") },
	func(_ *rand.Rand, _ ovndb.Database, x *plan.Database) { x.Removed = true },
	func(_ *rand.Rand, _ ovndb.Database, x *plan.Database) { x.TooNew = true },
	func(_ *rand.Rand, _ ovndb.Database, x *plan.Database) { x.FileUnknown = true },
	func(_ *rand.Rand, _ ovndb.Database, x *plan.Database) { x.Starting = true },
	func(_ *rand.Rand, _ ovndb.Database, x *plan.Database) { x.Former = "ovn-central/8" },
	func(r *rand.Rand, _ ovndb.Database, x *plan.Database) {
		x.Damage, x.RewriteFailure = finding.Quote("a gap"), one(r, "", "", "no space")
	},
	func(_ *rand.Rand, _ ovndb.Database, x *plan.Database) { x.Inconsistent.Code = finding.NotApplied },
	func(_ *rand.Rand, _ ovndb.Database, x *plan.Database) { x.Unrestricted = true },
	func(_ *rand.Rand, _ ovndb.Database, x *plan.Database) {
		x.WithoutTLS = []plan.Listener{{Target: "ptcp:1", UUID: "u"}}
	},
	func(_ *rand.Rand, _ ovndb.Database, x *plan.Database) { x.ClientsServed = false },
	func(r *rand.Rand, db ovndb.Database, x *plan.Database) { *x = serving(db, r.IntN(3)) },
	func(_ *rand.Rand, _ ovndb.Database, x *plan.Database) { x.Listeners = plan.Drifted },
	func(_ *rand.Rand, _ ovndb.Database, x *plan.Database) { x.Superseded = plan.Drifted },
	func(r *rand.Rand, _ ovndb.Database, x *plan.Database) {
		x.Schema, x.Runs, x.Size = plan.Drifted, one(r, "3.1.0", "3.5.0"), r.Int64N(400<<20)
		x.FreeDisk, x.FreeMemory = one(r, 0, 0, int64(1<<20)), one(r, 0, 0, int64(1<<20))
		x.TriedTimer = one(r, 0, 0, 4*time.Second, 5*time.Minute)
	},
	func(_ *rand.Rand, _ ovndb.Database, x *plan.Database) { x.Schema, x.Runs = plan.Drifted, "3.5.0" },
	func(r *rand.Rand, _ ovndb.Database, x *plan.Database) {
		x.Status.ElectionTimer = time.Duration(1+r.IntN(300)) * time.Second
	},
	func(_ *rand.Rand, _ ovndb.Database, x *plan.Database) { x.Status.ChangingTo = 8 * time.Second },
	func(_ *rand.Rand, _ ovndb.Database, x *plan.Database) {
		x.Status.Role, x.Status.Leader = raft.Candidate, raft.UnknownRef
	},
	func(_ *rand.Rand, _ ovndb.Database, x *plan.Database) {
		x.Status.State, x.Status.Leader = raft.LeavingCluster, raft.UnknownRef
	},
	func(r *rand.Rand, db ovndb.Database, x *plan.Database) {
		x.Status.State, x.JoinLost = raft.JoiningCluster, r.IntN(2) == 0
		x.Status.Leader = one(r, raft.UnknownRef, "b001")
		x.Status.Remotes = []string{ovndb.RaftAddress(db, addressOf(one(r, 1, 8)))}
	},
}
