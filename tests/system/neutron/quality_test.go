package neutron

// quality is how good the candidates are after an operation.
type quality struct {
	// Spread is the difference between the chassis with most and with fewest masters, in
	// the network where it is largest.
	Spread int
	// Failure is the load of a network's fullest chassis after the failure of one, the
	// worst there is; Best is that of an even spread.
	Failure, Best int
	// Moved is how many gateways have got another master.
	Moved int
}

// judge looks at a phase.
func (c cloud) judge(p phase, all []outcome) (q quality) {
	q = c.measure(c.there(p.last), all[p.last].Candidates)
	for n := max(p.first, 1); n <= p.last; n++ {
		q.Moved += moved(all[n-1].Candidates, all[n].Candidates)
	}
	return q
}

func (c cloud) measure(chassis []string, candidates map[string][]string) (q quality) {
	count := map[string]int{}
	for _, g := range c.Gateways {
		count[g[1]]++
	}
	for network, gateways := range count {
		least, most := c.load(chassis, candidates, network, "")
		q.Spread = max(q.Spread, most-least)
		for _, failed := range chassis {
			_, most := c.load(chassis, candidates, network, failed)
			q.Failure = max(q.Failure, most)
		}
		q.Best = max(q.Best, (gateways+len(chassis)-2)/(len(chassis)-1))
	}
	return q
}

// load is that of the network's chassis with the fewest and with the most gateways.
func (c cloud) load(chassis []string, candidates map[string][]string, network, failed string) (least, most int) {
	load := map[string]int{}
	for _, g := range c.Gateways {
		if g[1] != network {
			continue
		}
		for _, name := range candidates[g[0]] {
			if name != failed {
				load[name]++
				break
			}
		}
	}
	least = len(c.Gateways)
	for _, name := range chassis {
		if name != failed {
			least, most = min(least, load[name]), max(most, load[name])
		}
	}
	return least, most
}

func moved(before, after map[string][]string) (n int) {
	for name, candidates := range after {
		if candidates[0] != before[name][0] {
			n++
		}
	}
	return n
}
