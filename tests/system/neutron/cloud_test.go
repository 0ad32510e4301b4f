package neutron

import (
	"fmt"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// cloud is the input of scheduler.py.
type cloud struct {
	Chassis []string `json:"chassis"`
	// Gateways are names and networks.
	Gateways   [][2]string `json:"gateways"`
	Operations []operation `json:"operations"`
}

type operation struct {
	Schedule bool   `json:"schedule,omitempty"`
	Remove   string `json:"remove,omitempty"`
	Return   string `json:"return,omitempty"`
}

// outcome is scheduler.py's answer for an operation.
type outcome struct {
	Seconds float64 `json:"seconds"`
	// Candidates are those of each gateway, best first.
	Candidates map[string][]string `json:"candidates"`
}

// newCloud schedules gateways; then one chassis fails and returns, and then each of them is restarted in turn.
func newCloud(gateways, chassis, networks int) cloud {
	var c cloud
	for n := range chassis {
		c.Chassis = append(c.Chassis, fmt.Sprintf("chassis-%04d", n))
	}
	for n := range gateways {
		c.Gateways = append(c.Gateways, [2]string{fmt.Sprintf("lrp-%05d", n), fmt.Sprintf("physnet%d", n%networks)})
	}
	failed := c.Chassis[chassis/2]
	c.Operations = []operation{{Schedule: true}, {Remove: failed}, {Return: failed}}
	for _, name := range c.Chassis {
		c.Operations = append(c.Operations, operation{Remove: name}, operation{Return: name})
	}
	return c
}

func (c cloud) name() string {
	return fmt.Sprintf("%d-on-%d-in-%d", len(c.Gateways), len(c.Chassis), len(c.networks()))
}

func (c cloud) networks() (all []string) {
	for _, g := range c.Gateways {
		if !slices.Contains(all, g[1]) {
			all = append(all, g[1])
		}
	}
	return all
}

// phase is a group of operations that are judged together.
type phase struct {
	name        string
	first, last int
}

func (c cloud) phases() []phase {
	all := []phase{{"fresh", 0, 0}, {"removal", 1, 1}, {"return", 2, 2}}
	if last := len(c.Operations) - 1; last > 2 {
		all = append(all, phase{"restarts", 3, last})
	}
	return all
}

// there returns the chassis that exist after an operation.
func (c cloud) there(operation int) []string {
	if removed := c.Operations[operation].Remove; removed != "" {
		return slices.DeleteFunc(slices.Clone(c.Chassis), func(name string) bool { return name == removed })
	}
	return c.Chassis
}

// state returns the planner's input after an operation with these candidates.
func (c cloud) state(operation int, candidates map[string][]string) schedule.State {
	var s schedule.State
	for _, g := range c.Gateways {
		group := schedule.Group{Name: g[0], Storage: schedule.GatewayChassis, Ports: []schedule.Port{{Name: g[0], Network: g[1]}}}
		for rank, name := range candidates[g[0]] {
			group.Candidates = append(group.Candidates, schedule.Candidate{Chassis: name, Priority: schedule.MaxCandidates - rank})
		}
		s.Groups = append(s.Groups, group)
	}
	networks := c.networks()
	for _, name := range c.there(operation) {
		s.Chassis = append(s.Chassis, schedule.Chassis{Name: name, Gateway: true, Networks: networks})
	}
	return s
}

// after returns the candidates after a plan.
func after(s schedule.State, p schedule.Plan) map[string][]string {
	all := map[string][]string{}
	for _, g := range s.Groups {
		for _, c := range g.Candidates {
			all[g.Name] = append(all[g.Name], c.Chassis)
		}
	}
	for _, change := range p.Changes {
		all[change.Group] = nil
		for _, c := range change.After {
			all[change.Group] = append(all[change.Group], c.Chassis)
		}
	}
	return all
}

// planned returns the planner's result of all operations.
func planned(c cloud) []outcome {
	return c.carryOut(phase{last: len(c.Operations) - 1}, nil)
}

// carryOut has the planner carry out the operations of a phase, after the outcomes of earlier ones. A chassis that
// is restarted counts as gone, as Neutron takes it; an operator would wait instead.
func (c cloud) carryOut(p phase, before []outcome) (all []outcome) {
	var candidates map[string][]string
	if p.first > 0 {
		candidates = before[p.first-1].Candidates
	}
	for n := p.first; n <= p.last; n++ {
		s := c.state(n, candidates)
		begun := time.Now()
		plan := schedule.Reschedule(s, schedule.Options{})
		took := time.Since(begun)
		candidates = after(s, plan)
		all = append(all, outcome{took.Seconds(), candidates})
	}
	return all
}
