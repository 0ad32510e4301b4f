package recovery

import (
	"fmt"
	"math"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/unitname"
)

// Proof is the proof that a new cluster serves: the cluster acknowledged a write, and it was read from each unit's
// server.
type Proof struct {
	Database ovndb.Database
	// Unserved reports whether nothing was written because this unit's server is not yet a member that knows a leader.
	Unserved bool
	// Failure is why the write was not acknowledged.
	Failure string
	// Units are the units of the model, except those that are being removed.
	Units []UnitProof
}

// UnitProof is one unit's part of a [Proof].
type UnitProof struct {
	Unit string
	// GivenUp reports whether the request gives the unit up.
	GivenUp bool
	// Paused reports whether the unit is paused.
	Paused bool
	// Member reports whether the unit's server is in the configuration of the new cluster.
	Member bool
	// Failure is why the write was not read back from a member; empty if it was.
	Failure string
}

// Complete reports whether every unit has the write. A unit that was given up counts only if it has returned.
func (p Proof) Complete() bool { return len(p.Findings("")) == 0 }

// Broken returns the problems that do not end by themselves, as the unit own sees them. A member that may be lost
// should first be started, so the other remedy is only the dry run of a kick.
func (p Proof) Broken(own string) (all []finding.Finding) {
	found := State{Database: p.Database}.finds
	if p.Failure != "" {
		all = append(all, found(finding.RecoveryNotStored, "", finding.Quote(p.Failure).Args()))
	}
	for _, u := range p.Units {
		if u.Failure == "" {
			continue
		}
		f := found(finding.RecoveryNotRead, u.Unit, finding.Args{Unit: u.Unit, Detail: finding.Said(u.Failure)},
			finding.ByHand(finding.RepairServer))
		if u.Unit != own {
			f.Remedies = append(f.Remedies, finding.If(finding.IfLost,
				command.Command{Unit: own, Action: "kick", Params: []command.Param{
					{Key: "unit", Value: u.Unit}, {Key: dryRun, Value: "true"},
				}}))
		}
		all = append(all, f)
	}
	return all
}

// awaited returns the problems that end by themselves.
func (p Proof) awaited() (all []finding.Finding) {
	found := State{Database: p.Database}.finds
	if p.Unserved {
		return append(all, found(finding.RecoveryUnserved, "", finding.Args{}))
	}
	for _, u := range p.Units {
		if p.Failure != "" || u.Failure != "" || u.Member || u.GivenUp {
			continue
		}
		ways := []finding.Remedy{
			finding.ByHand(finding.StartMachine), finding.If(finding.IfLost, command.RemoveByForce(u.Unit)),
		}
		if u.Paused {
			ways = []finding.Remedy{finding.Do(command.RunHook(u.Unit))}
		}
		all = append(all, found(finding.NotInNewCluster, u.Unit, finding.Args{Unit: u.Unit}, ways...))
	}
	return all
}

// Findings returns all reasons why the proof is not complete.
func (p Proof) Findings(own string) []finding.Finding { return append(p.Broken(own), p.awaited()...) }

// Proved states what was proved for each unit.
func (p Proof) Proved() (all []finding.Statement) {
	for _, u := range p.Units {
		one := finding.Statement{Database: p.Database, Args: finding.Args{Unit: u.Unit}}
		switch {
		case u.Failure != "" || p.Failure != "" || p.Unserved:
			continue
		case u.Member:
			one.Line = finding.ProvedMember
		case u.GivenUp:
			one.Line = finding.ProvedGivenUp
		default:
			continue
		}
		all = append(all, one)
	}
	return all
}

// fullCluster is the least number of members that a cluster should have.
const fullCluster = 3

// Proved returns the finding that all proofs are complete, with the operator's remaining tasks: to remove and replace
// the units that were given up, and to reset clients, which would mistake the new log for old data (ovsdb_cs in OVS).
func Proved(own string, proofs []Proof) finding.Finding {
	var gone []string
	members := math.MaxInt
	for _, p := range proofs {
		n := 0
		for _, unit := range p.Units {
			if unit.Member {
				n++
			} else if !slices.Contains(gone, unit.Unit) {
				gone = append(gone, unit.Unit)
			}
		}
		members = min(members, n)
	}
	f := finding.New(finding.RecoveryProved, finding.Subject{}, finding.Args{})
	if len(gone) > 0 {
		slices.SortFunc(gone, unitname.Compare)
		f.Remedies = append(f.Remedies, finding.Do(command.RemoveByForce(gone...)))
	}
	if missing := fullCluster - members; missing > 0 {
		words := []string{"add-unit", unitname.Application(own)}
		if missing > 1 {
			words = append(words, "-n", fmt.Sprint(missing))
		}
		f.Remedies = append(f.Remedies, finding.Do(command.Client(words...)))
	}
	f.Remedies = append(f.Remedies, ClientsAfter()...)
	return f
}

// ClientsAfter returns the remedies for clients after their database was replaced.
func ClientsAfter() []finding.Remedy {
	return []finding.Remedy{finding.ByHand(finding.ResetChassis), finding.ByHand(finding.SyncNeutron)}
}
