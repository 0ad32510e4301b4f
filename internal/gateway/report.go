package gateway

import "slices"

// Network is how the gateways of a provider network are spread.
type Network struct {
	Name string `json:"network" yaml:"network"`
	// Ports is how many gateways there are; Unhosted of them have no candidate.
	Ports    int    `json:"gateways" yaml:"gateways"`
	Unhosted int    `json:"unhosted" yaml:"unhosted"`
	Hosts    []Host `json:"chassis" yaml:"chassis"`
}

// Host is a chassis's part in a network.
type Host struct {
	Chassis  string `json:"name" yaml:"name"`
	Hostname string `json:"hostname" yaml:"hostname"`
	// Masters and Backups count ports.
	Masters int `json:"masters" yaml:"masters"`
	Backups int `json:"backups" yaml:"backups"`
	// Share is how many percent of the network's gateways it hosts.
	Share int `json:"share" yaml:"share"`
	// Open says that new gateways may be hosted here, Closed why not.
	Open   bool   `json:"takes-new" yaml:"takes-new"`
	Closed string `json:"takes-nothing-new,omitempty" yaml:"takes-nothing-new,omitempty"`
	// Failure is what would become of the others if this one failed.
	Failure Failure `json:"if-it-fails" yaml:"if-it-fails"`
}

// Failure is the load of the chassis that remain when one fails, in masters.
type Failure struct {
	Most  int `json:"most" yaml:"most"`
	Least int `json:"least" yaml:"least"`
	// Lost is how many gateways would have nobody.
	Lost int `json:"lost" yaml:"lost"`
	// Best is the largest load that no plan can go below: that of an even spread.
	Best int `json:"best" yaml:"best"`
}

// Spread is the difference between the chassis that hosts most and the one that hosts
// least, of those that may host gateways.
func (n Network) Spread() int {
	var masters []int
	for _, h := range n.Hosts {
		if h.Open {
			masters = append(masters, h.Masters)
		}
	}
	if len(masters) == 0 {
		return 0
	}
	return slices.Max(masters) - slices.Min(masters)
}

// report says how all is spread by now.
func (w *scene) report() []Network {
	loads := w.loads()
	all := make([]Network, len(w.networks))
	for n := range w.networks {
		all[n] = w.network(n, loads[n])
	}
	return all
}

func (w *scene) network(n int, load []int) Network {
	report := Network{Name: w.networks[n]}
	backups := make([]int, len(w.chassis))
	// after is what each chassis gets of each one that fails.
	after := make([]map[int]int, len(w.chassis))
	lost := make([]int, len(w.chassis))
	for _, g := range w.groups {
		for _, s := range g.weight {
			if s.network != n {
				continue
			}
			report.Ports += s.ports
			if len(g.order) == 0 {
				report.Unhosted += s.ports
				continue
			}
			for _, c := range g.order[1:] {
				backups[c] += s.ports
			}
			master := g.order[0]
			if len(g.order) == 1 {
				lost[master] += s.ports
				continue
			}
			if after[master] == nil {
				after[master] = map[int]int{}
			}
			after[master][g.order[1]] += s.ports
		}
	}
	open := w.open(n)
	for c := range w.chassis {
		_, isOpen := slices.BinarySearch(open, c)
		if !isOpen && load[c] == 0 && backups[c] == 0 {
			continue
		}
		h := Host{Chassis: w.chassis[c].Name, Hostname: w.chassis[c].Hostname, Masters: load[c], Backups: backups[c], Open: isOpen}
		h.Closed = closed(w.chassis[c], report.Name)
		if report.Ports > 0 {
			h.Share = (100*load[c] + report.Ports/2) / report.Ports
		}
		h.Failure = failure(open, c, load, after[c])
		h.Failure.Lost = lost[c]
		report.Hosts = append(report.Hosts, h)
	}
	return report
}

// failure is the load of the others when a chassis fails.
func failure(open []int, failed int, load []int, after map[int]int) Failure {
	f, total, others := Failure{Least: -1}, 0, 0
	for _, c := range open {
		if c == failed {
			continue
		}
		l := load[c] + after[c]
		others++
		total += l
		f.Most = max(f.Most, l)
		if f.Least < 0 || l < f.Least {
			f.Least = l
		}
	}
	if f.Least = max(0, f.Least); others > 0 {
		f.Best = (total + others - 1) / others
	}
	return f
}
