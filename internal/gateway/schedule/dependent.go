package schedule

import "slices"

// Dependent returns, for each chassis, the gateways that no other responding chassis could host, and those pinned to
// it.
func Dependent(s State) map[string][]string {
	lives := map[string]bool{}
	for _, c := range s.Chassis {
		lives[c.Name] = !c.Unresponsive && !c.Remote
	}
	all := map[string][]string{}
	for _, g := range s.Groups {
		only := distinct(filter(g.Ranked(), func(name string) bool { return lives[name] }))
		for _, p := range g.Ports { // one whose ovn-controller is dead may host it all the same
			if p.Active != "" && !lives[p.Active] && len(only) == 0 {
				only = []string{p.Active}
			}
		}
		if len(only) == 1 {
			all[only[0]] = append(all[only[0]], g.Name)
		}
	}
	for _, p := range s.Pinned {
		if !p.Disabled {
			all[p.Chassis] = append(all[p.Chassis], p.Name)
		}
	}
	for _, names := range all {
		slices.SortFunc(names, CompareNames)
	}
	return all
}
