package plan

import (
	"cmp"
	"path"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/unitname"
)

// members reports whether this unit's servers are members of the application's two clusters.
func (s State) members() bool {
	for _, db := range ovndb.Databases() {
		x := s.Databases[db]
		if !x.MemberWithLeader() || !x.Damage.IsZero() || !x.Inconsistent.IsZero() || x.Cluster != s.Clusters.IDs[db] {
			return false
		}
	}
	return true
}

// ready reports whether clients may be sent to this unit.
func (s State) ready() bool {
	served := s.Databases[ovndb.NB].ClientsServed && s.Databases[ovndb.SB].ClientsServed
	return served && s.members() && !s.Paused && s.Address != ""
}

// deployed reports whether the unit can take part in a recovery.
func (v *view) deployed() bool { return v.Dying || v.Packages.Installed && v.Address != "" }

func in(c ovndb.Condition) func(*view) bool { return func(v *view) bool { return v.x.Condition == c } }

func (v *view) replaced() bool { return v.superseded(v.db, v.x.Cluster) }

// ours reports whether the server or file belongs, or may belong, to the application's cluster.
func (v *view) ours() bool { return v.x.Cluster == "" || v.x.Cluster == v.cluster() }

// runsDamaged reports whether the file of a running server lacks entries that count.
func (v *view) runsDamaged() bool {
	return v.x.Condition == ovndb.Serving && !v.x.Damage.IsZero() && !v.replaced()
}

func (v *view) rewrite() Step {
	return Step{Kind: RewriteFile, Database: v.db, Reason: v.x.Damage.String()}
}

// isOfReplaced reports whether the unit has a server or file of a replaced cluster: that server must not serve beside
// the new cluster's (R10). A unit that is being removed moves it away before `stop`, which may be refused, or be
// hours away.
func (v *view) isOfReplaced() bool {
	return v.replaced() && v.x.Condition != ovndb.Absent && !v.doubtsClaims() && (v.Dying || v.servedClaim() == "")
}

// cannotStart reports whether no server can be started on a former member's file.
func (v *view) cannotStart() bool {
	return v.x.Condition == ovndb.Down && v.x.Unusable() || v.x.Condition == ovndb.Failed && !v.x.File.Damage.IsZero()
}

// isUnusable reports whether the unit has such a file, and it belongs to the application's cluster.
func (v *view) isUnusable() bool {
	if !v.cannotStart() || v.x.Removed || v.x.TooNew || v.replaced() || !v.ours() || v.wasKilled() {
		return false
	}
	if v.mode() == working {
		return v.cluster() != ""
	}
	return v.whyStart() != ""
}

// isDown reports whether the unit's server is stopped and may be started. If the unit is being removed, or its
// packages are interrupted, that needs a reason.
func (v *view) isDown() bool {
	if v.x.Condition != ovndb.Down || v.replaced() {
		return false
	}
	return v.mode() == working || v.whyStart() != "" && !(v.x.Removed && v.x.Unusable())
}

func (v *view) wasKilled() bool {
	f := v.x.File
	return v.x.Condition == ovndb.Down && !v.x.FileUnknown && f.Outside && !f.WasMember
}

func (v *view) hasMoved() bool {
	return v.x.File.Address != "" && v.x.File.Address != ovndb.RaftAddress(v.db, v.Address)
}

// whyStart returns the special reason to start a stopped server, if there is one; a unit that does not work needs
// one. While the server of a unit that is being removed is down, `stop` can't remove it, and it may have the only
// copy.
func (v *view) whyStart() string {
	held, over := v.Recovery[v.db].HeldFor != "", v.isOver(v.db)
	switch {
	case v.contested:
		return "this unit has claimed their clusters"
	case v.mode() == working:
		return ""
	case held && !over:
		return ""
	case !v.Dying:
		return "it is down, and the upgrade of the packages can't be finished now"
	case v.Resumed:
		return "the unit was resumed, and the stop hook needs its servers"
	case v.Paused:
		return ""
	case over:
		return "the recovery that it was stopped for is over"
	case v.x.File.Sole && !v.x.File.WasMember && v.x.Cluster == v.cluster():
		return "no other unit has the new cluster yet"
	}
	return ""
}

func (v *view) isStartable() bool {
	f := v.x.File
	return v.isDown() && !v.x.TooNew && !v.x.FileUnknown && v.ours() && !f.Outside && f.Damage.IsZero() && !v.hasMoved() &&
		(v.mode() != working || !v.held())
}

// toStart returns the servers to start at once. On a unit that does not work it adds ovn-northd, since no other unit
// may have one. why is the reason for the first server.
func (v *view) toStart() (services []ovndb.Service, why string) {
	for _, one := range v.databases {
		if one.isStartable() {
			services, why = append(services, ovndb.ServiceOf(one.db)), cmp.Or(why, one.whyStart())
		}
	}
	if len(services) > 0 && v.mode() != working && !v.Services[ovndb.Northd].Active && !v.NorthdHeld {
		services = append(services, ovndb.Northd)
	}
	return services, why
}

func (v *view) canStart() bool {
	services, _ := v.toStart()
	return v.certifies() && v.Certificates.Used.usable() && len(services) > 0
}

func (v *view) start() Step {
	services, why := v.toStart()
	return Step{Kind: Start, Services: services, Reason: why}
}

func (v *view) restartFailed() Step {
	return Step{Kind: Restart, Service: ovndb.ServiceOf(v.db), Reason: "the server has given up the database"}
}

// isMade reports whether this unit has created the published cluster, which no other unit has.
func (v *view) isMade() bool {
	return v.x.Condition == ovndb.Absent && v.x.Staged != "" && v.x.Staged == v.cluster() && !v.doubtsClaims()
}

func (v *view) join() Step {
	return Step{Kind: JoinCluster, Database: v.db, Cluster: v.cluster(), Remotes: v.remotes(v.db)}
}

// isUnasked reports whether the state of the server is unknown.
func (v *view) isUnasked() bool {
	known := []ovndb.Condition{
		ovndb.Serving, ovndb.Absent, ovndb.Down, ovndb.Left, ovndb.Failed, ovndb.Standalone,
		ovndb.Hung,
	}
	return !slices.Contains(known, v.x.Condition)
}

func (v *view) serves() bool { return v.x.Condition == ovndb.Serving && v.x.Damage.IsZero() }

func is(state raft.MemberState) func(*view) bool {
	return func(v *view) bool { return v.serves() && v.x.Status.State == state }
}

// wantedAddress returns the address of a new server in place of this one.
func (v *view) wantedAddress() string {
	return ovndb.RaftAddress(v.db, cmp.Or(v.Better, v.Address))
}

func (v *view) serverHasMoved() bool {
	st := v.x.Status
	return v.x.Condition == ovndb.Serving && st.Address != v.wantedAddress() && st.State == raft.ClusterMember
}

// cannotJoin reports whether a server can't join through the members in its file although there are others: no
// existing unit has these members, or none of them answers. A server that knows the leader is receiving the log.
func (s State) cannotJoin(db ovndb.Database, x Database) bool {
	remotes := s.knownRemotes(db)
	if x.Status.HasLeader() || len(x.Status.Remotes) == 0 || len(remotes) == 0 {
		return false
	}
	there := func(remote string) bool {
		return slices.ContainsFunc(s.Peers, func(p Peer) bool {
			return remote == p.raftAddress(db) && p.Clusters[db] == s.Clusters.IDs[db]
		})
	}
	answers := slices.ContainsFunc(x.Status.Connections, func(c raft.Connection) bool { return c.Up })
	return !slices.ContainsFunc(x.Status.Remotes, there) || !answers && missing(remotes, x.Status.Remotes)
}

// mayServe returns the first peer that may have the application's cluster although no data shows it, and the reason.
// The cluster must not be called lost before all units of the model are known not to have it.
func (s State) mayServe(db ovndb.Database) (unit string, why finding.ReasonCode) {
	for _, p := range s.Peers {
		switch {
		case p.Data.Unread() && p.Dying:
			return p.Unit, finding.PeerDyingUnread
		case p.Data.Unread():
			return p.Unit, finding.PeerUnread
		case p.Data.Empty() && p.Dying:
			return p.Unit, finding.PeerDyingSilent
		case p.Dying && p.Clusters[db] == "": // it may have joined in its last hook, and publishes nothing afterwards
			return p.Unit, finding.PeerDyingJoined
		case p.Data.Empty():
			return p.Unit, finding.PeerUnpublished
		case p.Servers[db] != "" && p.Clusters[db] == "":
			return p.Unit, finding.PeerJoining
		case slices.Contains(s.Members[db], p.raftAddress(db)):
			return p.Unit, finding.PeerIsMember
		}
	}
	return "", ""
}

func (v *view) creatorIsGone() finding.Reason {
	return finding.Reason{Code: finding.CreatorGone, Name: v.Clusters.CreatedBy}
}

func (s State) exists(unit string) bool {
	return unit == s.Unit || slices.ContainsFunc(s.Peers, func(p Peer) bool { return p.Unit == unit })
}

func (s State) replace() finding.Remedy {
	return finding.Do(command.Client("add-unit", unitname.Application(s.Unit)), command.RemoveUnit(s.Unit))
}

// RestartOn returns the command that restarts a service of a unit.
func RestartOn(unit string, service ovndb.Service) command.Command {
	services := command.Param{Key: "services", Value: string(service)}
	return command.Command{Unit: unit, Action: "restart-services", Params: []command.Param{services}}
}

func (s State) action(name string, params ...command.Param) command.Command {
	return command.Command{Unit: s.Unit, Action: name, Params: params}
}

func (v *view) findDamaged() finding.Finding {
	replace := v.replace()
	replace.When = finding.IfNoSpace
	why := v.x.Damage
	if v.x.RewriteFailure != "" {
		why = finding.Quote(v.x.RewriteFailure)
	}
	args := why.Args()
	args.Path = path.Dir(v.x.File.Path)
	return v.find(finding.FileLacksEntries, args, finding.ByHand(finding.MakeSpace), replace)
}

func (v *view) findFile(code finding.Code, args finding.Args) finding.Finding {
	return v.find(code, v.fileArgs(args), v.rejoin())
}

func (v *view) findUnusable() finding.Finding {
	args := v.x.File.Damage.Args()
	if v.x.Condition != ovndb.Down && !v.x.Why.IsZero() {
		args.Reasons = append(args.Reasons, v.x.Why)
	}
	return v.findFile(finding.FileUnusable, args)
}

func (v *view) findOtherFile() finding.Finding {
	args := v.fileArgs(finding.Args{Cluster: v.x.Cluster.Brief(), Other: v.cluster().Brief()})
	return v.find(finding.FileOfOtherCluster, args, finding.ByHand(finding.MoveAway))
}

func (v *view) findOtherServer() finding.Finding {
	return v.find(finding.ServerOfOtherCluster, finding.Args{Cluster: v.x.Cluster.Brief(), Other: v.cluster().Brief()})
}

func (v *view) findMovedFile() finding.Finding {
	args := finding.Args{Address: v.x.File.Address, Other: ovndb.RaftAddress(v.db, v.Address)}
	return v.find(finding.AddressChanged, args, v.replace()).As(finding.Error)
}

func (v *view) findRival() finding.Finding {
	return v.find(finding.OldClusterServed, finding.Args{Address: v.x.Rival}, finding.ByHand(finding.StopOldServer))
}

func (v *view) findJoining() finding.Finding { return v.find(finding.ServerJoining, v.joined()) }

func (v *view) findAwaited(unit string, why ...finding.Reason) finding.Finding {
	return v.find(finding.ClusterAwaited, finding.Args{Unit: unit, Cluster: v.cluster().Short(), Reasons: why})
}

func (v *view) findMayServe() finding.Finding {
	unit, why := v.mayServe(v.db)
	return v.findAwaited(unit, finding.Reason{Code: why})
}

func (v *view) findLost(why ...finding.Reason) finding.Finding {
	args := finding.Args{Cluster: v.cluster().Brief(), Reasons: why}
	return v.find(finding.ClusterLost, args, finding.ByHand(finding.DeployAgain))
}

// findNone adds a condition: a server that joined in a hook that has not ended yet is not published.
func (v *view) findNone() finding.Finding {
	f := v.findLost(finding.Reason{Code: finding.NoneShowsIt}, v.creatorIsGone())
	f.Remedies[0].When = finding.IfGone
	return f
}

func (v *view) findStandalone() finding.Finding {
	return v.find(finding.DatabaseStandalone, v.fileArgs(finding.Args{}), finding.ByHand(finding.MoveAway))
}

func (v *view) findHung() finding.Finding {
	return v.find(finding.ServerHangs, finding.Args{Reasons: v.x.Why.Because},
		finding.If(finding.IfThisLasts, RestartOn(v.Unit, ovndb.ServiceOf(v.db))))
}

func (v *view) findStarting() finding.Finding {
	return v.find(finding.ServerStarting, finding.Args{},
		finding.If(finding.IfThisLasts, command.OnMachine(v.Unit, "systemctl", "status", string(ovndb.ServiceOf(v.db)))))
}

func (v *view) findUnserved() finding.Finding {
	code := finding.ServerUnreadable
	if v.x.FileUnknown {
		code = finding.FileUnreadable
	}
	return v.find(code, v.fileArgs(v.x.Why.Args()))
}

func (v *view) findFailed() finding.Finding {
	return v.find(finding.ServerFailed, finding.Args{Path: path.Dir(v.x.File.Path)}, finding.ByHand(finding.MakeSpace))
}

// joined returns the number of units that have servers in both clusters.
func (s State) joined() finding.Args {
	n := 0
	if s.members() {
		n++
	}
	for _, p := range s.Peers {
		if p.Clusters[ovndb.NB] != "" && p.Clusters[ovndb.SB] != "" {
			n++
		}
	}
	return finding.Args{Count: n, Total: max(s.Units, n)}
}
