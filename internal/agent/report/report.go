// Package report is what an agent says of itself: its fields, a line on each, and how it is asked
// for.
package report

import (
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/agent/config"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// Status is what an agent knows.
type Status struct {
	Unit string      `json:"unit" yaml:"unit"`
	Mode config.Mode `json:"mode" yaml:"mode"`
	// Acting is the unit that acts; empty where that isn't known now.
	Acting string `json:"acting" yaml:"acting"`
	// Acts says that this unit does.
	Acts bool `json:"acts" yaml:"acts"`
	// Holder, Term and Address are those of the record as it was last seen.
	Holder  string `json:"holder" yaml:"holder"`
	Term    uint64 `json:"term" yaml:"term"`
	Address string `json:"address,omitempty" yaml:"address,omitempty"`
	// HeldSeconds is for how long this process has seen that holder, Changes how often it
	// has seen another one take over.
	HeldSeconds float64 `json:"held_seconds" yaml:"held_seconds"`
	Changes     int     `json:"changes" yaml:"changes"`
	// Previous is the holder before it, where this process has seen it.
	Previous string `json:"previous,omitempty" yaml:"previous,omitempty"`
	// Northbound and Southbound say why a database can't be used; empty where it can.
	Northbound string `json:"northbound_error,omitempty" yaml:"northbound_error,omitempty"`
	Southbound string `json:"southbound_error,omitempty" yaml:"southbound_error,omitempty"`
	// Northd says why this unit's ovn-northd keeps it from acting; empty where it doesn't.
	Northd string       `json:"northd_error,omitempty" yaml:"northd_error,omitempty"`
	Peers  []PeerStatus `json:"peers" yaml:"peers"`
	// Stranger says why the holder is no agent that this one knows; empty where it is one.
	Stranger string `json:"stranger,omitempty" yaml:"stranger,omitempty"`
	// TakenAddress is that of the API for this machine's programs, if another program has it.
	TakenAddress string `json:"taken_address,omitempty" yaml:"taken_address,omitempty"`
	// Gateways is what the agent knows of chassis and gateways.
	Gateways GatewayStatus `json:"gateways" yaml:"gateways"`
	// Drains are those whose intent stands, as the agent that holds the lease sees them.
	Drains []Drain `json:"drains" yaml:"drains"`
}

// Drain is where the drain of a node is.
type Drain struct {
	Node    string `json:"node" yaml:"node"`
	Chassis string `json:"chassis" yaml:"chassis"`
	// Text is what is left, Gateways how many gateways are still to go or can go nowhere.
	Text     string `json:"text" yaml:"text"`
	Gateways int    `json:"gateways" yaml:"gateways"`
	// ForSeconds is for how long that has been so. Done says that nothing is left, Stalled
	// that there was no progress for 5 minutes.
	ForSeconds float64 `json:"for_seconds" yaml:"for_seconds"`
	Done       bool    `json:"done" yaml:"done"`
	Stalled    bool    `json:"stalled" yaml:"stalled"`
	// Since is when that began, by the agent's clock.
	Since time.Duration `json:"-" yaml:"-"`
}

// Path is where an agent tells its [Status]; at /status it tells a [Document].
const Path = "/agent"

// Document is all that an agent knows, from what it has seen last.
type Document struct {
	Status
	// GatewayStatus is what the action gateway-status gives, as old as Gateways is; null where
	// nothing was seen yet.
	GatewayStatus *schedule.Status `json:"gateway_status"`
	ClusterStatus ClusterStatus    `json:"cluster_status"`
}

// ClusterStatus is what the action cluster-status gives of this unit's servers, without what
// only Juju knows.
type ClusterStatus struct {
	// LookedSecondsAgo is how old all this is; -1: nothing was seen yet.
	LookedSecondsAgo float64 `json:"looked_seconds_ago"`
	Northbound       any     `json:"ovnnb,omitempty"`
	Southbound       any     `json:"ovnsb,omitempty"`
	// Orphans are members that are down and no unit's, as far as this unit knows.
	Orphans []schedule.Finding `json:"orphans"`
}

// PeerStatus is what is known of another agent.
type PeerStatus struct {
	Address string `json:"address" yaml:"address"`
	Unit    string `json:"unit,omitempty" yaml:"unit,omitempty"`
	// AnsweredSecondsAgo is -1 where it never has.
	AnsweredSecondsAgo float64 `json:"answered_seconds_ago" yaml:"answered_seconds_ago"`
	// ClockAheadSeconds is by how much its clock is ahead of this unit's at least, when it
	// last answered; negative where it is behind.
	ClockAheadSeconds float64 `json:"clock_ahead_seconds,omitempty" yaml:"clock_ahead_seconds,omitempty"`
	Error             string  `json:"error,omitempty" yaml:"error,omitempty"`
}

// GatewayStatus is what an agent knows of chassis and gateways.
type GatewayStatus struct {
	// LookedSecondsAgo is how old all this is; -1: nothing was seen yet.
	LookedSecondsAgo float64 `json:"looked_seconds_ago" yaml:"looked_seconds_ago"`
	Error            string  `json:"error,omitempty" yaml:"error,omitempty"`
	Chassis          int     `json:"chassis" yaml:"chassis"`
	Gateways         int     `json:"gateways" yaml:"gateways"`
	// HeldDown are the chassis and gateways whose change is not acted upon yet.
	HeldDown []HeldDown `json:"held_down" yaml:"held_down"`
	// Planned is how many gateways should have other candidates and have them not yet, and
	// Advice the first of them; AdvisedSeconds for how long there have been any.
	Planned        int      `json:"planned" yaml:"planned"`
	Advice         []Advice `json:"advice" yaml:"advice"`
	AdvisedSeconds float64  `json:"advised_seconds" yaml:"advised_seconds"`
	// Left are the gateways that are left to Neutron, which undoes what is done there.
	Left []string `json:"left_to_neutron,omitempty" yaml:"left_to_neutron,omitempty"`
	// Last is what was done last by this process.
	Last      *Deed  `json:"last,omitempty" yaml:"last,omitempty"`
	LastError string `json:"last_error,omitempty" yaml:"last_error,omitempty"`
	// Orphans are rows of which the other half is not there: reported, never deleted.
	Orphans []schedule.Finding `json:"orphans" yaml:"orphans"`
}

// HeldDown is something whose change is not acted upon yet.
type HeldDown struct {
	Name       string  `json:"name" yaml:"name"`
	ForSeconds float64 `json:"for_seconds" yaml:"for_seconds"`
}

// Advice is a gateway that should have other candidates.
type Advice struct {
	Gateway string   `json:"gateway" yaml:"gateway"`
	Before  []string `json:"before" yaml:"before"`
	After   []string `json:"after" yaml:"after"`
	Reason  string   `json:"reason" yaml:"reason"`
	Neutron bool     `json:"neutron" yaml:"neutron"`
}

// Deed is what was done at one time.
type Deed struct {
	SecondsAgo    float64  `json:"seconds_ago" yaml:"seconds_ago"`
	Gateways      int      `json:"gateways" yaml:"gateways"`
	Interruptions int      `json:"interruptions" yaml:"interruptions"`
	Reasons       []string `json:"reasons" yaml:"reasons"`
	// At is when, by the agent's clock.
	At time.Duration `json:"-" yaml:"-"`
}
