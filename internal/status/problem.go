package status

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/unitname"
)

// clusterHealth is what one database of this unit can do, as this unit sees it.
type clusterHealth int

const (
	// working: a leader is up, and with it a majority.
	working clusterHealth = iota
	// absent: there is no database yet.
	absent
	// notServing: there is a file, or a server, and no member that can be asked.
	notServing
	joining
	leaving
	// majorityUnconfirmed: the server hears a leader, so there is a quorum, but this unit itself
	// can't make sure that a majority is up: client ports are closed, or the
	// certificate is not there yet.
	majorityUnconfirmed
	// cutOff: a majority of the members says that it has a leader, and this server
	// does not hear it.
	cutOff
	// electing: no leader is heard, and a majority answers.
	electing
	// noQuorum: no leader is heard, and no majority answers.
	noQuorum
	// unjudged: the same, and nothing is known of the other units: the server may be no
	// member of the application's cluster.
	unjudged
)

// healthOf judges a cluster. That a quorum is lost, which leads to a recovery, takes that the peers are known.
func healthOf(c observe.Cluster, m observe.Application) clusterHealth {
	if h := seenHealth(c); h != noQuorum || m.KnowsPeers() {
		return h
	}
	return unjudged
}

// seenHealth is that by what this unit's server sees.
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

// hasWorkingMajority says whether a majority takes part in what the leader commits. A member that
// only counts as down, since its disk is full or its unit is about to stop it, does so
// still: there is a quorum, and what is wrong with it is said of the member.
func hasWorkingMajority(c observe.Cluster) bool {
	up := 0
	for _, row := range c.Rows {
		if row.Runs() {
			up++
		}
	}
	return raft.Quorum{Members: len(c.Rows), Up: up}.Holds()
}

// firstProblem is what keeps this unit from being a working member: first what an
// operator has to mend, then what ends by itself.
func firstProblem(r observe.Report) (juju.StatusWord, string) {
	word, text := juju.StatusWord(""), ""
	for _, c := range r.Clusters {
		w, t := problem(c, r.Application)
		if healthOf(c, r.Application) == noQuorum {
			t = noQuorumText(r)
		}
		if t != "" && (text == "" || w == juju.Blocked && word != juju.Blocked) {
			word, text = w, t
		}
	}
	return word, text
}

// problem is that of one database, without the command that a lost quorum has.
func problem(c observe.Cluster, m observe.Application) (juju.StatusWord, string) {
	name := c.Database.Short()
	switch healthOf(c, m) {
	case absent:
		return juju.Waiting, name + ": no database yet"
	case notServing:
		if c.Condition == ovndb.Former {
			return juju.Waiting, name + ": " + c.ServerState.Text()
		}
		if c.Starting {
			return juju.Waiting, name + ": the server is starting"
		}
		return juju.Blocked, name + ": " + c.ServerState.Text()
	case joining:
		return juju.Waiting, name + ": joining the cluster"
	case leaving:
		return juju.Waiting, name + ": leaving the cluster"
	case majorityUnconfirmed, cutOff, electing, unjudged:
		return juju.Waiting, name + ": " + leaderText(c, m)
	case noQuorum:
		return juju.Blocked, leaderText(c, m)
	}
	return "", ""
}

// leaderText says what this unit can make out of a cluster whose leader it does not
// see at work.
func leaderText(c observe.Cluster, m observe.Application) string {
	answering, connected := c.View.Responding()
	switch n := len(c.Rows); healthOf(c, m) {
	case majorityUnconfirmed:
		up, why := 0, ""
		for _, row := range c.Rows {
			if row.Up {
				up++
			} else if why == "" {
				why = nameOf(m, c.Database, row) + ": " + row.Why
			}
		}
		return fmt.Sprintf("a leader is known, but this unit sees only %d of %d members up (%s)", up, n, why)
	case cutOff:
		return fmt.Sprintf("this unit's server hears no leader, %d of %d members do; is port %s open?", connected, n, ovndb.PortOf(c.Status.Address))
	case unjudged:
		return "this unit's server hears no leader; the other units are not known yet"
	case electing:
		return fmt.Sprintf("a leader is being elected; %d of %d members answer", answering+1, n)
	}
	silent := silent(c, m)
	text := fmt.Sprintf("%d of %d members answer", len(c.Rows)-len(silent), len(c.Rows))
	if len(silent) > 0 {
		text += "; none from " + strings.Join(silent, ", ")
	}
	return text
}

// silent names the members that do not answer: by their units, where these are known.
func silent(c observe.Cluster, m observe.Application) []string {
	var all []string
	for _, row := range c.Rows {
		if up := row.Up || row.Self; !up && (c.Status.Role == raft.Leader || !c.View.Responded(row.Member)) {
			all = append(all, nameOf(m, c.Database, row))
		}
	}
	slices.SortFunc(all, unitname.Compare)
	return all
}

// nameOf is the member's unit, or what else it is known by.
func nameOf(m observe.Application, d ovndb.Database, row observe.Row) string {
	if row.Owner.Unit != "" {
		return row.Owner.Unit
	}
	return Describe(m, d, row.Peer)
}

// noQuorumText is one line for both databases, with the command that finds out more.
func noQuorumText(r observe.Report) string {
	var names, texts []string
	for _, c := range r.Clusters {
		if healthOf(c, r.Application) != noQuorum {
			continue
		}
		names = append(names, c.Database.Short())
		if text := leaderText(c, r.Application); !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("%s: no quorum; run: %s (%s)", strings.Join(names, ", "), recoveryPlanCommand(r.Application, viewsOf(r)), strings.Join(texts, "; "))
}
