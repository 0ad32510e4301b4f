// Package report has an agent's report on itself: its fields, its text, and the function that asks for it.
package report

import (
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/agent/config"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// Status is an agent's state.
type Status struct {
	Unit string      `json:"unit" yaml:"unit"`
	Mode config.Mode `json:"mode" yaml:"mode"`
	// Acting is the unit that acts; it is empty if that is unknown now.
	Acting string `json:"acting" yaml:"acting"`
	// Acts reports whether this unit acts.
	Acts bool `json:"acts" yaml:"acts"`
	// Holder, Term and Address are the values of the last observed record.
	Holder  string `json:"holder" yaml:"holder"`
	Term    uint64 `json:"term" yaml:"term"`
	Address string `json:"address,omitempty" yaml:"address,omitempty"`
	// HeldSeconds is for how long this process has seen that holder. Changes counts how often it has seen another holder
	// take over.
	HeldSeconds float64 `json:"held_seconds" yaml:"held_seconds"`
	Changes     int     `json:"changes" yaml:"changes"`
	// Previous is the previous holder, if this process has seen one.
	Previous string `json:"previous,omitempty" yaml:"previous,omitempty"`
	// Northbound and Southbound are the reasons why a database can't be used; empty if it can.
	Northbound string `json:"northbound_error,omitempty" yaml:"northbound_error,omitempty"`
	Southbound string `json:"southbound_error,omitempty" yaml:"southbound_error,omitempty"`
	// Northd is the reason why this unit's ovn-northd keeps it from acting; empty if it doesn't.
	Northd string       `json:"northd_error,omitempty" yaml:"northd_error,omitempty"`
	Peers  []PeerStatus `json:"peers" yaml:"peers"`
	// Stranger is the reason why the holder is not an agent that this one knows; empty if it is.
	Stranger string `json:"stranger,omitempty" yaml:"stranger,omitempty"`
	// TakenAddress is the address for this machine's programs, if another program has taken it.
	TakenAddress string `json:"taken_address,omitempty" yaml:"taken_address,omitempty"`
	// Gateways is the agent's knowledge of chassis and gateways.
	Gateways GatewayStatus `json:"gateways" yaml:"gateways"`
	// Drains lists the requested drains, as the holder of the lease sees them.
	Drains []Drain `json:"drains" yaml:"drains"`
}

// Drain is the progress of a node's drain.
type Drain struct {
	Node    string `json:"node" yaml:"node"`
	Chassis string `json:"chassis" yaml:"chassis"`
	// Text describes what is left. Gateways counts the gateways that still have to move or have nowhere to go.
	Text     string `json:"text" yaml:"text"`
	Gateways int    `json:"gateways" yaml:"gateways"`
	// ForSeconds is for how long the progress has been unchanged. Done reports whether nothing is left, Stalled whether
	// there was no progress for 5 minutes.
	ForSeconds float64 `json:"for_seconds" yaml:"for_seconds"`
	Done       bool    `json:"done" yaml:"done"`
	Stalled    bool    `json:"stalled" yaml:"stalled"`
	// Since is when the present progress began, by the agent's clock.
	Since time.Duration `json:"-" yaml:"-"`
}

// Path is the path at which an agent serves its [Status]. It serves its [Document] at /status.
const Path = "/agent"

// Document has everything that an agent knows, from its last observations.
type Document struct {
	Status
	// GatewayStatus is the result of the action gateway-status, with the age in Gateways. It is null before the first
	// observation.
	GatewayStatus any           `json:"gateway_status"`
	ClusterStatus ClusterStatus `json:"cluster_status"`
}

// ClusterStatus is the result of the action cluster-status for this unit's servers, without data that only Juju has.
type ClusterStatus struct {
	// LookedSecondsAgo is the age of the observation; -1 means that there is none yet.
	LookedSecondsAgo float64 `json:"looked_seconds_ago"`
	Northbound       any     `json:"ovnnb,omitempty"`
	Southbound       any     `json:"ovnsb,omitempty"`
	// Orphans are members that are down and belong to no unit, as far as this unit knows.
	Orphans []finding.Document `json:"orphans"`
}

// PeerStatus is this agent's knowledge of another agent.
type PeerStatus struct {
	Address string `json:"address" yaml:"address"`
	Unit    string `json:"unit,omitempty" yaml:"unit,omitempty"`
	// AnsweredSecondsAgo is the age of the last answer; -1 means that it has never answered.
	AnsweredSecondsAgo float64 `json:"answered_seconds_ago" yaml:"answered_seconds_ago"`
	// ClockAheadSeconds is by how much, at least, its clock was ahead of this unit's at its last answer. It is negative if
	// the clock was behind.
	ClockAheadSeconds float64 `json:"clock_ahead_seconds,omitempty" yaml:"clock_ahead_seconds,omitempty"`
	Error             string  `json:"error,omitempty" yaml:"error,omitempty"`
}

// GatewayStatus is an agent's knowledge of chassis and gateways.
type GatewayStatus struct {
	// LookedSecondsAgo is the age of the observation; -1 means that there is none yet.
	LookedSecondsAgo float64 `json:"looked_seconds_ago" yaml:"looked_seconds_ago"`
	Error            string  `json:"error,omitempty" yaml:"error,omitempty"`
	Chassis          int     `json:"chassis" yaml:"chassis"`
	Gateways         int     `json:"gateways" yaml:"gateways"`
	// Outage is set if no gateway works, OutageSeconds is for how long the agent has seen that.
	Outage        *schedule.Outage `json:"outage,omitempty" yaml:"outage,omitempty"`
	OutageSeconds float64          `json:"outage_seconds,omitempty" yaml:"outage_seconds,omitempty"`
	// HeldDown lists the chassis and gateways with a change that is not acted upon yet.
	HeldDown []HeldDown `json:"held_down" yaml:"held_down"`
	// Planned is how many gateways should have other candidates, Advice lists the first of them, and AdvisedSeconds is for
	// how long there have been any.
	Planned        int      `json:"planned" yaml:"planned"`
	Advice         []Advice `json:"advice" yaml:"advice"`
	AdvisedSeconds float64  `json:"advised_seconds" yaml:"advised_seconds"`
	// Left lists the gateways that the agent leaves to Neutron, because Neutron undoes changes there.
	Left []string `json:"left_to_neutron,omitempty" yaml:"left_to_neutron,omitempty"`
	// Last is the last change by this process.
	Last      *Outcome `json:"last,omitempty" yaml:"last,omitempty"`
	LastError string   `json:"last_error,omitempty" yaml:"last_error,omitempty"`
	// Orphans lists rows without their counterpart. They are reported, never deleted.
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
