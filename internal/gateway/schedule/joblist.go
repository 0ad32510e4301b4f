package schedule

import (
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/mincost"
)

// jobList is a list of groups to assign to chassis, which are the slots.
type jobList struct {
	groups  []*group
	jobs    []mincost.Job
	classes [][]int
	shared  map[*class]int
}

// add adds a group, which is on the chassis current or on [mincost.None], and may go to the chassis of the class.
func (l *jobList) add(g *group, current, class int) {
	l.groups, l.jobs = append(l.groups, g), append(l.jobs, mincost.Job{Current: current, Class: class})
}

// addOpen adds a group that is on no chassis, and may go to those that may take it over.
func (l *jobList) addOpen(g *group) {
	if some := g.open(); len(filter(g.order, g.accepts)) > 0 {
		l.add(g, mincost.None, l.class(some))
	} else {
		l.add(g, mincost.None, l.sharedClass(g.class, some))
	}
}

func (l *jobList) class(chassis []int) int {
	if len(chassis) == 0 {
		return mincost.None
	}
	l.classes = append(l.classes, chassis)
	return len(l.classes) - 1
}

func (l *jobList) sharedClass(c *class, chassis []int) int {
	number, found := l.shared[c]
	if !found {
		number = l.class(chassis)
		if l.shared == nil {
			l.shared = map[*class]int{}
		}
		l.shared[c] = number
	}
	return number
}

type assignment struct {
	*mincost.Assignment
	chassis []int
}

// start returns the present assignment; loads has the load of each chassis without the jobs. The slots are the chassis
// that can host a group, and the chassis in others.
func (l *jobList) start(loads, ties, others []int) assignment {
	chassis := slices.Concat(others, slices.Concat(l.classes...))
	for _, j := range l.jobs {
		if j.Current != mincost.None {
			chassis = append(chassis, j.Current)
		}
	}
	slices.Sort(chassis)
	chassis = slices.Compact(chassis)
	slot := make([]int, len(loads))
	p := mincost.Problem{Loads: make([]int, len(chassis)), Ties: make([]int, len(chassis)), Jobs: slices.Clone(l.jobs)}
	for s, c := range chassis {
		slot[c], p.Loads[s], p.Ties[s] = s, loads[c], ties[c]
	}
	for i, j := range p.Jobs {
		if j.Current != mincost.None {
			p.Jobs[i].Current = slot[j.Current]
		}
	}
	for _, class := range l.classes {
		slots := make([]int, len(class))
		for i, c := range class {
			slots[i] = slot[c]
		}
		p.Classes = append(p.Classes, slots)
	}
	return assignment{mincost.New(p), chassis}
}

// of returns the chassis of the group with this index, or [mincost.None].
func (a assignment) of(i int) int {
	if a.Slot(i) == mincost.None {
		return mincost.None
	}
	return a.chassis[a.Slot(i)]
}
