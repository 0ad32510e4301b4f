package controller

import (
	"maps"
	"slices"

	"github.com/juju/juju/core/network"
)

// Status is the model as people see it.
type Status struct {
	Leader         string                `json:"leader"`
	AppVersion     string                `json:"app-version"`
	LeaderSettings map[string]string     `json:"leader-settings"`
	Units          map[string]UnitStatus `json:"units"` // those that were removed are dead
}

// UnitStatus is a unit in it.
type UnitStatus struct {
	Workload StatusWord `json:"workload"`
	Agent    StatusWord `json:"agent"`
	Life     string     `json:"life"`
	Ports    []string   `json:"ports"`
	Hooks    []string   `json:"hooks"`
}

// StatusWord is a status with its message.
type StatusWord struct {
	Status  string `json:"status"`
	Message string `json:"message"`
}

// Status is the model's status.
func (c *Controller) Status() Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := Status{
		Leader: c.state.Leader, AppVersion: c.state.Version, LeaderSettings: maps.Clone(c.state.LeaderSettings),
		Units: map[string]UnitStatus{},
	}
	for _, u := range c.state.Units {
		one := u.status()
		if u.agent == "" && u.Agent.Status != "allocating" {
			one.Agent = StatusWord{"lost", "agent is not communicating with the server"}
		}
		all.Units[u.Name] = one
	}
	for _, u := range c.state.Gone {
		all.Units[u.Name] = u.status()
	}
	return all
}

func (u *Unit) status() UnitStatus {
	ports := []string{}
	for _, p := range u.Ports {
		one := network.PortRange{FromPort: p.FromPort, ToPort: p.ToPort, Protocol: p.Protocol}
		ports = append(ports, one.String())
	}
	workload, agent := u.visible(), u.Agent
	if agent.Status == "error" {
		agent.Status, agent.Info = "idle", ""
	}
	return UnitStatus{
		Workload: StatusWord{workload.Status, workload.Info}, Agent: StatusWord{agent.Status, agent.Info},
		Life: u.Life, Ports: ports, Hooks: slices.Clone(u.Hooks),
	}
}
