package schedule

import (
	"math"
	"slices"
)

func (in *instance) networkReports() []Network {
	loads := in.loads()
	all := make([]Network, len(in.networks))
	for n := range in.networks {
		all[n] = in.network(n, loads[n])
	}
	return all
}

func (in *instance) network(n int, load []int) Network {
	report := Network{Name: in.networks[n]}
	masters, backups, hosts := make([]int, len(in.chassis)), make([]int, len(in.chassis)), make([]int, len(in.chassis))
	// after has, for each chassis, the load that it gets from each chassis that fails.
	after := make([]map[int]int, len(in.chassis))
	lost := make([]int, len(in.chassis))
	for _, g := range in.groups {
		ports := g.portsIn(n)
		if ports == 0 {
			continue
		}
		report.Ports += ports
		report.Unhosted += in.countHosts(g, report.Name, hosts)
		if len(g.order) == 0 {
			report.Candidateless += ports
			continue
		}
		masters[g.order[0]] += ports
		for _, c := range g.order[1:] {
			backups[c] += ports
		}
		host, next, found := in.successor(g)
		if !found {
			lost[host] += ports
			continue
		}
		if after[host] == nil {
			after[host] = map[int]int{}
		}
		after[host][next] += ports
	}
	report.pinned = in.countPinned(report.Name, hosts)
	schedulable := in.schedulable[n]
	report.spread = spread(schedulable, load)
	for c := range in.chassis {
		reason := in.unfit(in.chassis[c], n)
		if !reason.IsZero() && masters[c] == 0 && backups[c] == 0 && hosts[c] == 0 {
			continue
		}
		reason = orUnavailable(reason, in.chassis[c])
		h := Host{
			Chassis: in.chassis[c].Name, Hostname: in.chassis[c].Hostname,
			Hosts: hosts[c], Masters: masters[c], Backups: backups[c],
			Share:       (100*masters[c] + report.Ports/2) / max(report.Ports, 1),
			Schedulable: reason.IsZero(), Unschedulable: reason.String(),
			Failure: failure(schedulable, load, c, after[c]),
		}
		h.Failure.Lost = lost[c]
		report.Hosts = append(report.Hosts, h)
	}
	return report
}

// successor returns the chassis that has a group's load, and the candidate that takes over if that chassis fails.
func (in *instance) successor(g *group) (host, next int, found bool) {
	host = g.order[g.loads]
	at := slices.IndexFunc(g.order, func(c int) bool { return c != host && !in.chassis[c].Unresponsive })
	if at < 0 {
		return host, 0, false
	}
	return host, g.order[at], true
}

func (in *instance) countHosts(g *group, network string, hosts []int) (unhosted int) {
	for _, p := range g.Ports {
		if p.Network != network || p.External {
			continue
		}
		unhosted += btoi(!p.Disabled && !in.isHosted(p))
		if c, found := in.number[p.Active]; found {
			hosts[c]++
		}
	}
	return unhosted
}

func (in *instance) countPinned(network string, hosts []int) (hosted int) {
	for _, p := range in.pinned {
		if c, found := in.number[p.Active]; found && slices.Contains(p.Networks, network) {
			hosts[c]++
			hosted++
		}
	}
	return hosted
}

// spread returns the difference between the largest and the smallest load of these chassis.
func spread(chassis, load []int) int {
	if len(chassis) == 0 {
		return 0
	}
	byLoad := func(a, b int) int { return load[a] - load[b] }
	return load[slices.MaxFunc(chassis, byLoad)] - load[slices.MinFunc(chassis, byLoad)]
}

func failure(schedulable, load []int, failed int, takes map[int]int) Failure {
	load = slices.Clone(load)
	for c, ports := range takes {
		load[c] += ports
	}
	f := Failure{Least: math.MaxInt}
	total, others := 0, 0
	for _, c := range schedulable {
		if c == failed {
			continue
		}
		f.Most, f.Least = max(f.Most, load[c]), min(f.Least, load[c])
		total += load[c]
		others++
	}
	if others == 0 {
		return Failure{}
	}
	f.Best = (total + others - 1) / others
	return f
}
