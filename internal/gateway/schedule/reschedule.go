package schedule

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
)

// Reschedule gives every group as many candidates as it can have, up to [MaxCandidates]. A valid master stays; invalid
// candidates are replaced; new chassis get their share of backups, and nothing moves between the others. A master moves
// that lacks the networks of the ports behind the gateway, if another chassis has them ([Options.KeepHosts]). With
// [LeastLoaded] the first backup is chosen such that the load stays even whichever chassis fails.
func Reschedule(s State, o Options) Plan {
	in := newInstance(s)
	in.hold(o)
	before := in.networkReports()
	choose := scheduler(leastLoaded{})
	if o.Scheduler == Random {
		choose = randomScheduler(o.Draw)
	}
	if !o.KeepHosts {
		in.connectBehind()
	}
	choose.masters(in)
	in.replaceUnresponsiveMasters()
	choose.backups(in)
	in.replaceUnresponsiveMasters() // some may have had no other candidate
	added := in.added(o)
	choose.shares(in, added)
	in.mendExternals()
	in.keepWorking()
	in.findIncomplete()
	in.findCutOff(in.behind)
	in.findUnmarked()
	in.findLostFollowers()
	p := in.plan(reschedule, o, before)
	p.Added = in.gaining(added, p.Changes)
	return p
}

// scheduler chooses chassis: masters for groups without candidates, backups until each group has as many candidates as
// it can have, and groups that new chassis take over from the others.
type scheduler interface {
	masters(*instance)
	backups(*instance)
	shares(*instance, []int)
}

// hold keeps groups as they are if [Options.Hold] has them, or if the request does not name their networks.
func (in *instance) hold(o Options) {
	for _, n := range o.Networks {
		if !in.knows(n) {
			in.find(finding.NetworkUnknown, n, in.networkNames().Args())
		}
	}
	for _, g := range in.groups {
		g.held = o.Hold[g.Name] || len(o.Networks) > 0 &&
			slices.ContainsFunc(g.weight, func(s share) bool { return !isOf(o.Networks, in.networks[s.network]) })
	}
	for _, g := range in.externals {
		lead := in.groupNamed(g.Follows)
		switch {
		case o.Hold[g.Name]:
			g.held = true
		case lead != nil:
			g.held = lead.held
		default:
			g.held = len(o.Networks) > 0 && !slices.ContainsFunc(g.Ports,
				func(p Port) bool { return isOf(o.Networks, p.Network) })
		}
	}
}

// namedNetworks is the largest number of networks that a finding names.
const namedNetworks = 20

// networkNames lists the networks that have gateways, as a reason. It returns the zero Reason if no network has any.
func (in *instance) networkNames() finding.Reason {
	all := in.networks
	if len(all) == 0 {
		return finding.Reason{}
	}
	text := strings.Join(all[:min(namedNetworks, len(all))], ", ")
	if more := len(all) - namedNetworks; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return finding.Reason{Code: finding.NetworksAre, Value: text}
}

// added returns the chassis that are not a candidate of any group, and those in [Options.Added].
func (in *instance) added(o Options) (all []int) {
	used := make([]bool, len(in.chassis))
	for _, g := range in.groups {
		for _, c := range g.was {
			used[c] = true
		}
	}
	for i, c := range in.chassis {
		if !used[i] || slices.Contains(o.Added, c.Name) {
			all = append(all, i)
		}
	}
	for _, name := range o.Added {
		if _, found := in.number[name]; !found {
			in.find(finding.ChassisUnknown, name, finding.Args{})
		}
	}
	return all
}

func (in *instance) gaining(chassis []int, changes []Change) (names []string) {
	gains := map[string]bool{}
	for _, c := range changes {
		for _, r := range c.Rows {
			if r.Before == nil {
				gains[r.Chassis] = true
			}
		}
	}
	for _, c := range chassis {
		if name := in.chassis[c].Name; gains[name] {
			names = append(names, name)
		}
	}
	return names
}

func (in *instance) findIncomplete() {
	groups, closed := make([]int, len(in.networks)), make([]map[int]bool, len(in.networks))
	for _, g := range in.groups {
		if g.held || len(g.order) == 0 || len(g.order) >= MaxCandidates {
			continue
		}
		others := slices.DeleteFunc(slices.Clone(g.class.unschedulable), g.has)
		if len(others) == 0 {
			continue
		}
		n := g.weight[0].network
		groups[n]++
		if closed[n] == nil {
			closed[n] = map[int]bool{}
		}
		for _, c := range others {
			closed[n][c] = true
		}
	}
	for n, chassis := range closed {
		if groups[n] == 0 {
			continue
		}
		in.find(finding.CandidatesIncomplete, in.networks[n],
			finding.Args{Count: groups[n], Total: MaxCandidates, Reasons: in.whyClosed(chassis)})
	}
}

// whyClosed counts the reasons why these chassis are unschedulable.
func (in *instance) whyClosed(chassis map[int]bool) []finding.Reason {
	return against(in.chassis, func(c Chassis) (why finding.Reason) {
		if chassis[in.number[c.Name]] {
			why.Code = unavailable(c)
		}
		return why
	})
}

// randomScheduler chooses at random: it returns a number from 0 to n-1.
type randomScheduler func(n int) int

func (d randomScheduler) shuffled(n int) []int {
	all := make([]int, n)
	for i := range all {
		j := d(i + 1)
		all[i], all[j] = all[j], i
	}
	return all
}

func (d randomScheduler) masters(in *instance) {
	for _, g := range in.unhosted() {
		some := g.open()
		g.append(in, some[d(len(some))])
	}
}

func (d randomScheduler) backups(in *instance) {
	for _, g := range in.groups {
		order := d.shuffled(len(g.class.schedulable))
		for i, n := range order {
			order[i] = g.class.schedulable[n]
		}
		slices.SortStableFunc(order, func(a, b int) int { return btoi(g.serves(b)) - btoi(g.serves(a)) })
		for _, c := range order {
			if g.missing() > 0 && !g.has(c) {
				g.append(in, c)
			}
		}
	}
}

// shares replaces backups at random until each new chassis has its share.
func (d randomScheduler) shares(in *instance, added []int) {
	for n := range in.networks {
		e := in.entries(n)
		for _, c := range added {
			for _, k := range d.shuffled(len(e.groups)) {
				if e.count[c] < e.share {
					d.giveBackup(in, e, e.groups[k], c)
				}
			}
		}
	}
}

func (d randomScheduler) giveBackup(in *instance, e *entries, g *group, c int) {
	var ranks []int
	for rank := g.kept(); rank < len(g.order); rank++ {
		if e.spares(g.order[rank], c) {
			ranks = append(ranks, rank)
		}
	}
	if len(ranks) > 0 && !g.has(c) && g.gains(c) {
		e.replace(in, g, ranks[d(len(ranks))], c)
	}
}

// connectBehind moves each gateway whose first candidate lacks the networks of the ports behind it to a chassis that
// has them: to the backup that hosts it or, if that lacks them too, to the candidate with the smallest load or, if none
// has them, to another chassis. Through a chassis without them, these ports reach no provider network.
func (in *instance) connectBehind() {
	loads := in.loads()
	for _, g := range in.groups {
		if g.held || len(g.order) == 0 || g.serves(g.order[0]) {
			continue
		}
		serving := func(c int) bool { return g.accepts(c) && g.serves(c) }
		open := filter(g.order, serving)
		if len(open) == 0 {
			open = filter(g.class.schedulable, serving)
		}
		if g.works > 0 && serving(g.was[g.works]) {
			open = []int{g.was[g.works]}
		}
		if len(open) == 0 {
			continue
		}
		unload(loads, g)
		in.promote(g, slices.MinFunc(open, func(a, b int) int {
			return loads[g.weight[0].network][a] - loads[g.weight[0].network][b]
		}), finding.Reason{Code: finding.NeedsBehind})
		put(loads, g, g.order[0], 1)
	}
}
