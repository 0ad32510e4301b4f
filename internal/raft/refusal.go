package raft

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// Reason is why a change of the membership is refused.
type Reason string

// The reasons, by the rule of the design that they enforce.
const (
	// NoQuorum (R1): there is no leader, or no majority is up, so nothing can be
	// changed from here.
	NoQuorum Reason = "no-quorum"
	// WouldLoseQuorum (R1): too few of those that remain are up.
	WouldLoseQuorum Reason = "would-lose-quorum"
	// SoleMember (R2): the only member can neither leave nor be kicked; trying
	// makes the database unusable.
	SoleMember Reason = "sole-member"
	// NotAnID, UnknownID, AmbiguousID, OtherDatabase and OwnID (R3): the ID does
	// not name exactly one other member of this database.
	NotAnID       Reason = "not-an-id"
	UnknownID     Reason = "unknown-id"
	AmbiguousID   Reason = "ambiguous-id"
	OtherDatabase Reason = "id-of-other-database"
	OwnID         Reason = "own-id"
	// LiveMember and UnitInModel (R4): needs force as well.
	LiveMember  Reason = "live-member"
	UnitInModel Reason = "unit-in-model"
	// ChangePending (R5): another change is not finished.
	ChangePending Reason = "change-pending"
	// NotMember: this unit's server is not a working member itself.
	NotMember Reason = "not-a-member"
	// Unreadable: what this unit's server is can't be found out.
	Unreadable Reason = "unreadable"
)

// Refusal says why a change of one database's membership must not be made. Text
// names the database, the member and the reason in numbers, without the command
// that would be right, which depends on the Juju that runs.
type Refusal struct {
	Database ovndb.Database
	Reason   Reason
	Text     string
	// Blockers are the members whose being down stands in the way.
	Blockers []Peer
}

// Error is the text, led by the database's short name.
func (r *Refusal) Error() string { return r.Database.Short() + ": " + r.Text }

// blame adds which of the remaining members stand in the way: those that are down, and those whose ports are closed to
// others.
func (r *Refusal) blame(peers []Peer, gone func(Peer) bool) {
	var ports, own []string
	stays := slices.ContainsFunc(peers, func(p Peer) bool { return p.Self && !gone(p) })
	for _, p := range peers {
		text := fmt.Sprintf("%s at %s (%s)", p.Short, p.Address, p.Why)
		switch {
		case gone(p) || p.Up:
		case p.OneWay && p.Self:
			own = append(own, text)
		case p.OneWay && !stays && p.Link.To: // others may connect to it
		case p.OneWay:
			ports = append(ports, text)
		default:
			r.Blockers = append(r.Blockers, p)
		}
	}
	if len(ports) == 0 && len(r.Blockers) == 0 {
		ports = own // else this server is only cut off with them
	}
	if len(r.Blockers) > 0 {
		r.Text += "; down: " + list(r.Blockers)
	}
	if len(ports) > 0 {
		r.Text += "; not connected in both directions: " + strings.Join(ports, ", ")
	}
}

func list(peers []Peer) string {
	names := make([]string, len(peers))
	for i, p := range peers {
		names[i] = p.Short + " at " + p.Address
	}
	return strings.Join(names, ", ")
}
