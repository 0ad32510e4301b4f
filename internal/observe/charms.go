package observe

import "slices"

// OtherCharms are the versions of the charm that this unit has read of others, and doesn't run itself.
func (m Application) OtherCharms() (all []string) {
	for _, unit := range m.Others() {
		if charm := m.Peers[unit].State.Charm; charm != "" && charm != m.Charm {
			all = append(all, charm)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
