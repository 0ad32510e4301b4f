package schedule

// chooseBackupsOfSeveral chooses first backups for the groups of several ports, such that the load is as even as is
// found whichever chassis fails.
func (d *draining) chooseBackupsOfSeveral() {
	hosted := make([][]*group, len(d.instance.chassis))
	concerned := make([]bool, len(hosted))
	for _, g := range d.groups {
		if len(g.order) > 1 {
			hosted[g.order[0]] = append(hosted[g.order[0]], g)
			concerned[g.order[0]] = concerned[g.order[0]] || d.touched[g] && !g.single()
		}
	}
	for failed, groups := range hosted {
		if concerned[failed] {
			d.forFailureOf(groups)
		}
	}
}

func (d *draining) forFailureOf(groups []*group) {
	e := evening{loads: d.loads(), singles: make([]jobList, len(d.networks))}
	for _, g := range groups {
		open := filter(g.order[1:], g.accepts)
		n := g.weight[0].network
		switch free := d.touched[g] && g.kept() == 1 && len(open) > 0; {
		case free && g.single():
			e.singles[n].add(g, g.firstBackup(), e.singles[n].class(open))
		case free:
			e.several = append(e.several, choice{g, open, g.firstBackup()})
			fallthrough
		default:
			put(e.loads, g, g.firstBackup(), 1)
		}
	}
	e.search()
	for _, c := range e.several {
		if c.at != c.group.firstBackup() {
			c.group.swapFirstBackup(d.instance, c.at)
		}
	}
}
