package status

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/unitname"
)

// clusterHealth is the state of one database as this unit sees it.
type clusterHealth int

const (
	// working means that a leader is up, and with it a majority.
	working clusterHealth = iota
	// absent means that there is no database yet.
	absent
	// notServing means that there is a file or a server, but no member that answers.
	notServing
	joining
	leaving
	// majorityUnconfirmed means that the server knows a leader, so there is a quorum, but this unit can't confirm that a
	// majority is up: client ports are closed, or it has no certificate yet.
	majorityUnconfirmed
	// cutOff means that a majority of the members reports a leader, and this server is not connected to it.
	cutOff
	// electing means that no leader is known, and a majority answers.
	electing
	// noQuorum means that no leader is known, and no majority answers.
	noQuorum
	// unjudged is noQuorum if nothing is known about the other units: the server may not be a member of the
	// application's cluster.
	unjudged
)

// healthOf judges a cluster. A lost quorum leads to a recovery, so the peers must be known.
func healthOf(c observe.Cluster, m observe.Application) clusterHealth {
	if h := seenHealth(c); h != noQuorum || m.KnowsPeers() {
		return h
	}
	return unjudged
}

// seenHealth judges a cluster by the view of this unit's server.
func seenHealth(c observe.Cluster) clusterHealth {
	switch {
	case c.Condition == ovndb.Absent:
		return absent
	case c.Condition != ovndb.Serving:
		return notServing
	case c.Status.State == raft.JoiningCluster:
		return joining
	case c.Status.State == raft.LeavingCluster:
		return leaving
	case c.View.LeaderUp() && hasWorkingMajority(c):
		return working
	case c.Status.Role == raft.Leader:
		return noQuorum
	case c.Status.HearsLeader():
		return majorityUnconfirmed
	}
	answering, connected := c.View.Responding()
	switch majority := raft.Majority(len(c.Rows)); {
	case connected >= majority:
		return cutOff
	case answering+1 >= majority:
		return electing
	}
	return noQuorum
}

// hasWorkingMajority reports whether a majority takes part in the leader's commits. A member also takes part if it
// counts as down because its disk is full, or because its unit is about to stop it.
func hasWorkingMajority(c observe.Cluster) bool {
	up := 0
	for _, row := range c.Rows {
		if row.Runs() {
			up++
		}
	}
	return raft.Quorum{Members: len(c.Rows), Up: up}.Holds()
}

// quorum finds the clusters that have no leader, or whose majority this unit does not see.
func quorum(r observe.Report) (all []finding.Finding) {
	m := r.Application
	cut := map[int]int{} // maps the number of members that know a leader to the index of the finding
	for _, c := range r.Clusters {
		answering, connected := c.View.Responding()
		n, up := len(c.Rows), 0
		var first []finding.Reason
		for _, row := range c.Rows {
			if row.Up {
				up++
			} else if first == nil {
				first = downReason(nameOf(m, c.Database, row), row)
			}
		}
		switch healthOf(c, m) {
		case majorityUnconfirmed:
			all = append(all, unconfirmed(c, finding.Args{Count: up, Total: n, Reasons: first}))
		case cutOff:
			port := ovndb.PortOf(c.Status.Address)
			if i, found := cut[connected]; found && all[i].Args.Total == n {
				all[i].Subject.Databases = append(all[i].Subject.Databases, c.Database)
				all[i].Args.Value = "ports " + strings.TrimPrefix(all[i].Args.Value, "port ") + " and " + port
				continue
			}
			cut[connected] = len(all)
			all = append(all, finding.Of(finding.CutOff, c.Database,
				finding.Args{Count: connected, Total: n, Value: "port " + port}, finding.ByHand(finding.OpenPort)))
		case electing:
			all = append(all, finding.Of(finding.Electing, c.Database, finding.Args{Count: answering + 1, Total: n}))
		case unjudged:
			all = append(all, finding.Of(finding.PeersUnknown, c.Database, finding.Args{}))
		case noQuorum:
			all = append(all, finding.Of(finding.NoQuorum, c.Database, finding.Args{Reasons: answersOf(c, m)},
				quorumAgain(c, m, viewsOf(r))...))
		}
	}
	return all
}

// unconfirmed is the finding about a leader that is heard: either it does not answer, or too few others do.
func unconfirmed(c observe.Cluster, few finding.Args) finding.Finding {
	leader, up := c.View.Leader()
	if up || leader.Short == "" || !hasWorkingMajority(c) {
		return finding.Of(finding.MajorityUnseen, c.Database, few)
	}
	args := finding.Args{
		Member: finding.Server{ID: leader.Longest(), Address: leader.Address}, Reasons: []finding.Reason{leader.Why},
	}
	return finding.Of(finding.LeaderUnseen, c.Database, args).As(finding.Waiting)
}

// quorumAgain returns the remedies of a lost quorum: what brings the silent units back, and then the recovery without
// them. It is a wait if a recovery of the cluster was requested on another unit.
func quorumAgain(c observe.Cluster, m observe.Application, clusters Views) (ways []finding.Remedy) {
	for _, unit := range m.Others() {
		q, is := m.Peers[unit].State.Requests[c.Database]
		if is && c.Status.Cluster != "" && q.Cluster == c.Status.Cluster {
			return []finding.Remedy{finding.ByHand(finding.AwaitAccept).For(unit)}
		}
	}
	var off []string
	quiet := silent(c, m)
	for _, unit := range m.Others() {
		if !slices.Contains(quiet, unit) {
			continue
		}
		found, _ := repairs(m, clusters, unit)
		for _, r := range found {
			if r.Deed == finding.StartMachine {
				off = append(off, unit)
			} else {
				ways = append(ways, r.For(unit))
			}
		}
	}
	switch without := recoveryPlanCommand(m, clusters); {
	case len(off) > 0:
		start := finding.ByHand(finding.StartMachine).For(strings.Join(off, ", "))
		return append(ways, start, finding.If(finding.IfOff, without).For(start.Unit))
	case len(ways) > 0:
		return append(ways, finding.If(finding.IfThisLasts, without))
	default:
		return []finding.Remedy{finding.Do(without)}
	}
}

// downReason returns why a member counts as down.
func downReason(member string, row observe.Row) []finding.Reason {
	return []finding.Reason{{Code: finding.MemberIs, Name: member, Because: []finding.Reason{row.Why}}}
}

// answersOf returns how many members answer, and which ones don't.
func answersOf(c observe.Cluster, m observe.Application) []finding.Reason {
	n, silent := len(c.Rows), silent(c, m)
	all := []finding.Reason{{Code: finding.MembersAnswer, Count: n - len(silent), Total: n}}
	if len(silent) > 0 {
		all = append(all, finding.Reason{Code: finding.MembersSilent, Value: strings.Join(silent, ", ")})
	}
	return all
}

func silent(c observe.Cluster, m observe.Application) []string {
	var all []string
	for _, row := range c.Rows {
		if !row.Up && !row.Self && (c.Status.Role == raft.Leader || !c.View.Responded(row.Member)) {
			all = append(all, nameOf(m, c.Database, row))
		}
	}
	slices.SortFunc(all, unitname.Compare)
	return all
}

func nameOf(m observe.Application, d ovndb.Database, row observe.Row) string {
	return cmp.Or(row.Owner.Unit, Describe(m, d, row.Peer))
}

func works(r observe.Report) bool {
	return !slices.ContainsFunc(r.Clusters, func(c observe.Cluster) bool { return healthOf(c, r.Application) != working })
}

// Health returns the end of an active unit's line: which databases it leads, how many members are up and how many
// more may fail. Up to the semicolon it is the text of the Python charm (cluster_status_message of its
// ovn_central.py), which runbooks match. It is empty unless both clusters work.
func Health(r observe.Report, northdActive bool) string {
	if !works(r) {
		return ""
	}
	var leads, part, counts []string
	tolerance := len(r.Clusters[0].Rows)
	for _, c := range r.Clusters {
		name := c.Database.Short()
		if c.Status.Role == raft.Leader {
			leads = append(leads, "ovn"+name+"_db")
		}
		counts = append(counts, fmt.Sprintf("%d of %d up", c.Quorum.Up, c.Quorum.Members))
		tolerance = min(tolerance, c.Quorum.Tolerance())
	}
	if len(leads) > 0 {
		part = append(part, "leader: "+strings.Join(leads, ", "))
	}
	if northdActive {
		part = append(part, "northd: active")
	}
	text := strings.Join(part, " ")
	if text != "" {
		text += "; "
	}
	if counts[0] == counts[1] {
		text += counts[0]
	} else {
		text += fmt.Sprintf("nb %s, sb %s", counts[0], counts[1])
	}
	if tolerance <= 0 {
		return text + ", none may fail"
	}
	return text + fmt.Sprintf(", %d may fail", tolerance)
}

// Tolerance returns a line for each cluster that tells how many more members may fail.
func Tolerance(r observe.Report) (all []string) {
	for _, c := range r.Clusters {
		name, t := c.Database.Short(), c.Quorum.Tolerance()
		switch h := healthOf(c, r.Application); {
		case h == noQuorum:
			all = append(all, finding.Of(finding.NoQuorum, c.Database, finding.Args{}).Line())
		case c.Condition != ovndb.Serving, h == joining, t < 0 && h != working:
			all = append(all, name+": not known")
		default:
			all = append(all, fmt.Sprintf("%s: %d more of %d members may fail (%d up)", name, max(t, 0), c.Quorum.Members,
				c.Quorum.Up))
		}
	}
	return all
}

// Answer reports whether a unit may be stopped or removed now.
type Answer struct {
	// Lines has the numbers of members, a line for each member of the unit.
	Lines []string
	// Against is the reason why it is not allowed; nil if it is.
	Against *finding.Finding
}

// OKToStop reports whether a unit may go down. A member whose file lacks entries has them in memory only.
func OKToStop(r observe.Report, unit string) (Answer, error) {
	var lost []finding.Finding
	for _, c := range r.Clusters {
		for _, row := range c.Rows {
			if row.Lost && row.Owner.Unit == unit {
				lost = append(lost, finding.Of(finding.FileLacksEntries, c.Database, finding.Args{}))
			}
		}
	}
	a, err := answer(r, unit, finding.StopUnsafe, raft.PlanStop, lost...)
	if len(lost) > 0 && a.Against != nil {
		ways := []finding.Remedy{finding.ByHand(finding.MakeSpaceThere)}
		if unit != r.Application.Unit {
			ways, _ = repairs(r.Application, viewsOf(r), unit)
		}
		for _, w := range ways {
			a.Against.Remedies = append(a.Against.Remedies, w.For(unit))
		}
	}
	if at := slices.IndexFunc(r.Clusters, tooFew); a.Against != nil && works(r) && at >= 0 {
		a.Against.Remedies = append(a.Against.Remedies, waysToMore(r.Application, r.Clusters[at])...)
	}
	return a, err
}

// tooFew reports whether all members of a cluster are up, and yet none may go down.
func tooFew(c observe.Cluster) bool {
	return c.Quorum.Up == c.Quorum.Members && c.Quorum.Tolerance() == 0
}

// OKToRemove reports whether a unit may be removed, and so leave. A member that is down can't leave: Juju waits for the
// agent of a lost machine, and a server that hangs stays behind as a stale member.
func OKToRemove(r observe.Report, unit string) (Answer, error) {
	return answer(r, unit, finding.RemovalUnsafe, raft.PlanLeave, silentMembers(r, unit)...)
}

// waysToLeader returns the remedies if this unit's servers know no leader.
func waysToLeader(r observe.Report) (ways []finding.Remedy) {
	for _, f := range finding.Sort(quorum(r)) {
		switch f.Code {
		case finding.NoQuorum:
			ways = append(ways, f.Remedies...)
		case finding.CutOff:
			other := otherUnit(r.Application, viewsOf(r))
			ways = append(ways, finding.If(finding.ToAskAnother, StatusCommand(other)).For(other))
		case finding.Electing, finding.LeaderUnseen:
			ways = append(ways, finding.ByHand(finding.AwaitElection))
		}
	}
	return ways
}

// answer judges a change of a unit's members; against are further reasons against it.
func answer(
	r observe.Report, unit string, code finding.Code, judge func(raft.Change) raft.Plan, against ...finding.Finding,
) (a Answer, err error) {
	m := r.Application
	units := append(m.Others(), m.Unit)
	if !slices.Contains(units, unit) {
		slices.SortFunc(units, unitname.Compare)
		return a, finding.Reason{Code: finding.NoSuchUnit, Name: unit, Value: strings.Join(units, ", ")}.Err()
	}
	var refused []raft.Plan
	ways := waysToLeader(r)
	f := finding.New(code, finding.Subject{Name: unit}, finding.Args{})
	for _, c := range r.Clusters {
		if !c.Member() {
			f = f.Because(finding.Of(finding.NotAMember, c.Database, finding.Args{Reasons: []finding.Reason{c.Reason()}}))
			ways = append(ways, finding.ByHand(finding.AskAnother))
			continue
		}
		for _, plan := range plans(c, unit, judge) {
			if plan.Refusal != nil {
				refused = append(refused, plan)
				continue
			}
			a.Lines = append(a.Lines, fmt.Sprintf("%s: %d of %d members are up; afterwards %s", c.Database.Short(),
				plan.Before.Up, plan.Before.Members, plan.After))
		}
	}
	f = f.Because(append(reasons(m, refused), against...)...)
	if len(f.Causes) == 0 {
		if len(a.Lines) == 0 {
			a.Lines = []string{unit + " has no member in either database"}
		}
		return a, nil
	}
	f.Remedies = slices.Concat(Ways(m, refused, viewsOf(r)), f.Remedies, ways)
	a.Against = &f
	return a, nil
}
