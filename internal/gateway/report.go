package gateway

import (
	"cmp"
	"math"
	"slices"
)

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
	carrying := newCarrying(w.open(n), load)
	for c := range w.chassis {
		isOpen := carrying.open[c]
		if !isOpen && load[c] == 0 && backups[c] == 0 {
			continue
		}
		h := Host{Chassis: w.chassis[c].Name, Hostname: w.chassis[c].Hostname, Masters: load[c], Backups: backups[c], Open: isOpen}
		h.Closed = closed(w.chassis[c], report.Name)
		if report.Ports > 0 {
			h.Share = (100*load[c] + report.Ports/2) / report.Ports
		}
		h.Failure = carrying.failure(c, after[c])
		h.Failure.Lost = lost[c]
		report.Hosts = append(report.Hosts, h)
	}
	return report
}

// carrying is the load of the chassis that are open, for what becomes of it when one fails.
// That is asked of each of them, so that an answer must not look at all the others.
type carrying struct {
	load []int
	open []bool
	// lightest are the open chassis, those with least to carry first.
	lightest []int
	total    int
}

func newCarrying(open, load []int) carrying {
	c := carrying{load: load, open: make([]bool, len(load)), lightest: slices.Clone(open)}
	for _, o := range open {
		c.open[o] = true
		c.total += load[o]
	}
	slices.SortFunc(c.lightest, func(a, b int) int { return cmp.Compare(load[a], load[b]) })
	return c
}

// failure is the load of the others when a chassis fails and they take over from it.
func (c carrying) failure(failed int, takes map[int]int) Failure {
	total, others := c.total, len(c.lightest)
	if c.open[failed] {
		total, others = total-c.load[failed], others-1
	}
	if others == 0 {
		return Failure{}
	}
	same := func(o int) bool { return o != failed && takes[o] == 0 }
	f := Failure{Least: math.MaxInt}
	for _, o := range c.lightest {
		if same(o) {
			f.Least = c.load[o]
			break
		}
	}
	for _, o := range slices.Backward(c.lightest) {
		if same(o) {
			f.Most = c.load[o]
			break
		}
	}
	for o, ports := range takes {
		if c.open[o] && o != failed {
			l := c.load[o] + ports
			total += ports
			f.Most, f.Least = max(f.Most, l), min(f.Least, l)
		}
	}
	f.Best = (total + others - 1) / others
	return f
}
