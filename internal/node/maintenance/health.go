package maintenance

import (
	"fmt"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// DatabaseHealth is the health of one database's cluster.
type DatabaseHealth struct {
	// Name is that of the database, such as OVN_Northbound.
	Name string
	// Accessible reports whether a server answered; Why is its condition otherwise.
	Accessible bool
	Why        string
	// Standalone reports whether a server answered whose database is not clustered. It has no members to ask, so that it
	// is not accessible.
	Standalone bool
	// HasRaftLeader reports whether the server knows a leader of the database.
	HasRaftLeader bool
	Members, Up   int
	// Each are the members; Status is the server's answer.
	Each   []MemberHealth
	Status raft.Status
}

// MemberHealth is the health of one member.
type MemberHealth struct {
	Member
	Up bool
	// Kick is the command that removes it if it no longer belongs to a unit (rule R16).
	Kick command.Command
}

// Without returns the health without members that will leave with a node.
func (d DatabaseHealth) Without(gone []Member) DatabaseHealth {
	for _, m := range gone {
		if one := d.each(m); one != nil {
			d.Members--
			if one.Up {
				d.Up--
			}
		}
	}
	return d
}

// Quorum describes the members that are up and the majority, for people.
func (d DatabaseHealth) Quorum() string {
	text := raft.Quorum{Members: d.Members, Up: d.Up}.String()
	if !d.HasRaftLeader {
		text += ", no leader is known"
	}
	return text
}

// Healthy reports whether the cluster has a leader, a majority, and at least minMembers members that are up.
// A standalone database is healthy if one member is enough.
func (d DatabaseHealth) Healthy(minMembers int) bool {
	if d.Standalone {
		return minMembers <= 1
	}
	return d.Accessible && d.HasRaftLeader && d.Up >= max(d.Members/2+1, minMembers)
}

// AllHealthy reports whether every database is healthy; false if none is known.
func AllHealthy(all []DatabaseHealth, minMembers int) bool {
	return len(all) > 0 && !slices.ContainsFunc(all, func(d DatabaseHealth) bool { return !d.Healthy(minMembers) })
}

// detail describes the members and the leader of a database that is accessible.
func (d DatabaseHealth) detail() string {
	switch {
	case d.Standalone:
		return "up, not clustered"
	case d.HasRaftLeader:
		return fmt.Sprintf("%d of %d members up, a leader is known", d.Up, d.Members)
	}
	return fmt.Sprintf("%d of %d members up, no leader is known", d.Up, d.Members)
}

// ClusterHealth is the answer about all databases. An unhealthy database is an answer, not a failure. It is a failure
// if a database could not be asked, or if none is known.
func ClusterHealth(all []DatabaseHealth, minMembers int) answer.Status {
	var messages []answer.Message
	healthy, inaccessible := 0, 0
	for _, d := range all {
		m := answer.Message{Message: "Unhealthy", Kind: answer.MessageHealth, Name: d.Name}
		switch {
		case !d.Accessible && !d.Standalone:
			m.Message, m.Error = "Unable to access "+d.Name, true
			if d.Why != "" {
				m.Message += ": " + d.Why
			}
			inaccessible++
		case d.Healthy(minMembers):
			m.Message = "Healthy"
			healthy++
		}
		messages = append(messages, m)
		if d.Accessible || d.Standalone {
			messages = append(messages, answer.Message{Message: d.detail(), Kind: answer.MessageStep, Name: d.Name})
		}
	}
	message := fmt.Sprintf("databases healthy: %d of %d", healthy, len(all))
	if inaccessible > 0 || len(all) == 0 {
		return answer.New(answer.ClusterNotAccessible, message, messages...)
	}
	return answer.New(answer.Success, message, messages...)
}
