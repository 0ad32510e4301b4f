package recovery

import (
	"maps"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
)

// Progress states the progress of each unfinished recovery or restore of the database.
func (s State) Progress() (said []finding.Statement) {
	all := s.standing()
	accepted, _, is := s.accepted(all)
	for _, unit := range slices.Sorted(maps.Keys(all)) {
		r := all[unit]
		one := s.says(finding.RecoverAsked, finding.Args{
			Unit: unit, Time: r.Asked, Path: r.Backup, Units: r.GivenUp,
			Cluster: r.New.Brief(),
		})
		if r.Backup != "" {
			one.Line = finding.RestoreAsked
		}
		if len(r.GivenUp) > 0 {
			one.More = append(one.More, finding.AddGivesUp)
		}
		if !is || accepted != unit {
			one.More = append(one.More, finding.AddUnaccepted)
		}
		if r.New != "" {
			one.More = append(one.More, finding.AddMade)
		}
		said = append(said, one)
	}
	return said
}
