// Package report is an agent's report on itself: its fields, its text, and how to ask for it.
package report

import (
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/agent/config"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
)

// Status is an agent's state.
type Status struct {
	Unit string      `json:"unit" yaml:"unit"`
	Mode config.Mode `json:"mode" yaml:"mode"`
	// Acting is the unit that acts; empty if that is not known now.
	Acting string `json:"acting" yaml:"acting"`
	// Acts reports whether this unit acts.
	Acts bool `json:"acts" yaml:"acts"`
	// Holder, Term and Address are those of the last observed record.
	Holder  string `json:"holder" yaml:"holder"`
	Term    uint64 `json:"term" yaml:"term"`
	Address string `json:"address,omitempty" yaml:"address,omitempty"`
	// HeldSeconds is for how long this process has seen that holder. Changes is how often it has seen another one take
	// over.
	HeldSeconds float64 `json:"held_seconds" yaml:"held_seconds"`
	Changes     int     `json:"changes" yaml:"changes"`
	// Previous is the holder before it, if this process has seen one.
	Previous string `json:"previous,omitempty" yaml:"previous,omitempty"`
	// Northbound and Southbound are why a database can't be used; empty if it can.
	Northbound string `json:"northbound_error,omitempty" yaml:"northbound_error,omitempty"`
	Southbound string `json:"southbound_error,omitempty" yaml:"southbound_error,omitempty"`
	// Northd is why this unit's ovn-northd keeps it from acting; empty if it doesn't.
	Northd string       `json:"northd_error,omitempty" yaml:"northd_error,omitempty"`
	Peers  []PeerStatus `json:"peers" yaml:"peers"`
	// Stranger is why the holder is not an agent that this one knows; empty if it is one.
	Stranger string `json:"stranger,omitempty" yaml:"stranger,omitempty"`
	// TakenAddress is the address for this machine's programs, if another program has it.
	TakenAddress string `json:"taken_address,omitempty" yaml:"taken_address,omitempty"`
	// Gateways is what the agent knows of chassis and gateways.
	Gateways GatewayStatus `json:"gateways" yaml:"gateways"`
	// Drains are the requested drains, as the holder of the lease sees them.
	Drains []Drain `json:"drains" yaml:"drains"`
}

// Drain is the progress of a node's drain.
type Drain struct {
	Node    string `json:"node" yaml:"node"`
	Chassis string `json:"chassis" yaml:"chassis"`
	// Text is what is left. Gateways counts those that still have to move or have nowhere to go.
	Text     string `json:"text" yaml:"text"`
	Gateways int    `json:"gateways" yaml:"gateways"`
	// ForSeconds is for how long that is unchanged. Done reports whether nothing is left, Stalled whether there was no
	// progress for 5 minutes.
	ForSeconds float64 `json:"for_seconds" yaml:"for_seconds"`
	Done       bool    `json:"done" yaml:"done"`
	Stalled    bool    `json:"stalled" yaml:"stalled"`
	// Since is when that state began, by the agent's clock.
	Since time.Duration `json:"-" yaml:"-"`
}

// Path is the agent's path for its [Status]; the path of a [Document] is /status.
const Path = "/agent"

// Document is everything that an agent knows, from its last observations.
type Document struct {
	Status
	// GatewayStatus is the result of the action gateway-status, as old as Gateways; null before the first observation.
	GatewayStatus any           `json:"gateway_status"`
	ClusterStatus ClusterStatus `json:"cluster_status"`
}

// ClusterStatus is the result of the action cluster-status for this unit's servers, without what only Juju knows.
type ClusterStatus struct {
	// LookedSecondsAgo is the age of the observation; -1: none yet.
	LookedSecondsAgo float64 `json:"looked_seconds_ago"`
	Northbound       any     `json:"ovnnb,omitempty"`
	Southbound       any     `json:"ovnsb,omitempty"`
	// Orphans are members that are down and belong to no unit, as far as this unit knows.
	Orphans []finding.Document `json:"orphans"`
}

// PeerStatus is what is known of another agent.
type PeerStatus struct {
	Address string `json:"address" yaml:"address"`
	Unit    string `json:"unit,omitempty" yaml:"unit,omitempty"`
	// AnsweredSecondsAgo is -1 if it has never answered.
	AnsweredSecondsAgo float64 `json:"answered_seconds_ago" yaml:"answered_seconds_ago"`
	// ClockAheadSeconds is by how much its clock was at least ahead of this unit's at its last answer; negative if
	// behind.
	ClockAheadSeconds float64 `json:"clock_ahead_seconds,omitempty" yaml:"clock_ahead_seconds,omitempty"`
	Error             string  `json:"error,omitempty" yaml:"error,omitempty"`
}

// GatewayStatus is what an agent knows of chassis and gateways.
type GatewayStatus struct {
	// LookedSecondsAgo is the age of the observation; -1: none yet.
	LookedSecondsAgo float64 `json:"looked_seconds_ago" yaml:"looked_seconds_ago"`
	Error            string  `json:"error,omitempty" yaml:"error,omitempty"`
	Chassis          int     `json:"chassis" yaml:"chassis"`
	Gateways         int     `json:"gateways" yaml:"gateways"`
	// HeldDown are the chassis and gateways with a change that is not acted upon yet.
	HeldDown []HeldDown `json:"held_down" yaml:"held_down"`
	// Planned is how many gateways should have other candidates, Advice the first of them, and AdvisedSeconds for how
	// long there has been any.
	Planned        int      `json:"planned" yaml:"planned"`
	Advice         []Advice `json:"advice" yaml:"advice"`
	AdvisedSeconds float64  `json:"advised_seconds" yaml:"advised_seconds"`
	// Left are the gateways that the agent leaves to Neutron, because it undoes changes there.
	Left []string `json:"left_to_neutron,omitempty" yaml:"left_to_neutron,omitempty"`
	// Last is this process' last change.
	Last      *Outcome `json:"last,omitempty" yaml:"last,omitempty"`
	LastError string   `json:"last_error,omitempty" yaml:"last_error,omitempty"`
	// Orphans are rows without their counterpart: reported, never deleted.
	Orphans []finding.Document `json:"orphans" yaml:"orphans"`
}

// HeldDown is a chassis or gateway with a change that is not acted upon yet.
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

// Outcome summarises one change of gateways.
type Outcome struct {
	SecondsAgo    float64  `json:"seconds_ago" yaml:"seconds_ago"`
	Gateways      int      `json:"gateways" yaml:"gateways"`
	Interruptions int      `json:"interruptions" yaml:"interruptions"`
	Reasons       []string `json:"reasons" yaml:"reasons"`
	// At is the time, by the agent's clock.
	At time.Duration `json:"-" yaml:"-"`
}
