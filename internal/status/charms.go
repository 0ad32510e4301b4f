package status

import (
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
)

// charms finds the units whose charm has another version than most units', or than this unit's if no version has a
// majority. A unit counts only if it has seen this unit's version: then it has run a hook since, and Juju upgrades a
// unit before it runs a hook. Juju may be about to upgrade any other unit.
func charms(m observe.Application) (all []finding.Finding) {
	if m.Charm == "" {
		return nil
	}
	units, judged := map[string][]string{m.Charm: {m.Unit}}, 1
	for _, unit := range m.Others() {
		s := m.Peers[unit].State
		if s.Charm != "" && !m.Dying(unit) && (s.Charm == m.Charm || slices.Contains(s.CharmsSeen, m.Charm)) {
			units[s.Charm] = append(units[s.Charm], unit)
			judged++
		}
	}
	usual := m.Charm
	for charm, its := range units {
		if 2*len(its) > judged {
			usual = charm
		}
	}
	delete(units, usual)
	for charm, its := range units {
		for _, unit := range its {
			all = append(all, finding.New(finding.CharmVersionDiffers, finding.Subject{Name: unit},
				finding.Args{Unit: unit, Version: charm, Detail: charm + ", others " + usual},
				finding.ByHand(finding.RefreshAgain)))
		}
	}
	return all
}
