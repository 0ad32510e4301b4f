package recovery

import (
	"fmt"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// Proof is what was seen of a new cluster that has taken the old one's place: a write that
// it has acknowledged, read back from the server of each unit.
type Proof struct {
	Database ovndb.Database
	// Waiting is why nothing was written, where that comes by itself; Failure is why the
	// write was not acknowledged.
	Waiting, Failure string
	// Units are all of the model but those that are being removed.
	Units []UnitProof
}

// UnitProof is one unit's part of a [Proof].
type UnitProof struct {
	Unit string
	// GivenUp says that the request does not wait for it.
	GivenUp bool
	// Member says that its server is in the configuration of the new cluster.
	Member bool
	// Failure is why the write was not read back from a member; empty where it was.
	Failure string
}

// Complete says whether every unit that was not given up has the write. One that was may
// be off for good; if it has returned, it counts.
func (p Proof) Complete() bool {
	if p.Waiting != "" || p.Failure != "" {
		return false
	}
	for _, u := range p.Units {
		if u.Failure != "" || !u.Member && !u.GivenUp {
			return false
		}
	}
	return true
}

// Broken are problems that do not end by themselves.
func (p Proof) Broken() (all []string) {
	if p.Failure != "" {
		all = append(all, fmt.Sprintf("%s: the cluster has not acknowledged a write: %s", p.Database.Short(), p.Failure))
	}
	for _, u := range p.Units {
		if u.Failure != "" {
			all = append(all, fmt.Sprintf("%s: an acknowledged write was not read back from %s: %s", p.Database.Short(), u.Unit, u.Failure))
		}
	}
	return all
}

// Lines are for people, one for each unit.
func (p Proof) Lines() []string {
	db := p.Database.Short()
	if p.Waiting != "" {
		return []string{db + ": nothing was written yet: " + p.Waiting}
	}
	all := p.Broken()
	for _, u := range p.Units {
		switch {
		case u.Failure != "" || p.Failure != "":
		case u.Member:
			all = append(all, fmt.Sprintf("%s: %s is a member, and an acknowledged write was read back from its server", db, u.Unit))
		case u.GivenUp:
			all = append(all, fmt.Sprintf("%s: %s was given up, and is no member; it joins if it returns", db, u.Unit))
		default:
			all = append(all, fmt.Sprintf("%s: %s is not a member yet; it joins in its next hook (if it is lost: juju remove-unit --force %s)", db, u.Unit, u.Unit))
		}
	}
	return all
}
