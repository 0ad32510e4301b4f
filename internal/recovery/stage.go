package recovery

import (
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// Stage is the stage of this unit's last recovery or restore of a database.
type Stage string

// The stages.
const (
	// Idle: none was requested, or the lost quorum is back.
	Idle Stage = ""
	// Requested: an operator has asked for it, and Juju's leader has yet to accept it.
	Requested Stage = "requested"
	// Accepted: Juju's leader has accepted it, and all units stop their servers.
	Accepted Stage = "accepted"
	// Made: its new cluster is made, but not published.
	Made Stage = "made"
	// Withdrawn: it is over, and the old cluster stays.
	Withdrawn Stage = "withdrawn"
	// Placed: the new cluster has replaced the old one, and has no leader here.
	Placed Stage = "placed"
	// Served: the new cluster has a leader here, or this unit has no copy of it yet.
	Served Stage = "served"
	// Overtaken: the application has another cluster than the new one.
	Overtaken Stage = "overtaken"
)

// event moves a recovery from one stage to another.
type event string

// The events. The methods of [Attempt] explain them.
const (
	eventAsk      event = "ask"
	eventAccept   event = "accept"
	eventMake     event = "make"
	eventWithdraw event = "withdraw"
	eventPlace    event = "place"
	eventOvertake event = "overtake"
	eventLead     event = "lead"
	eventUnlead   event = "unlead"
	eventTakeBack event = "take back"
	eventForget   event = "forget"
)

// transitions has the next stage by stage and event. An event without an entry changes nothing.
var transitions = map[Stage]map[event]Stage{
	Idle: {eventAsk: Requested},
	Requested: {
		eventAsk: Requested, eventAccept: Accepted, eventWithdraw: Withdrawn, eventPlace: Placed,
		eventOvertake: Overtaken, eventTakeBack: Idle,
	},
	Accepted: {
		eventAsk: Requested, eventMake: Made, eventWithdraw: Withdrawn, eventPlace: Placed,
		eventOvertake: Overtaken, eventTakeBack: Idle,
	},
	Made: {
		eventAsk: Made, eventMake: Made, eventWithdraw: Withdrawn, eventPlace: Placed, eventOvertake: Overtaken,
		eventTakeBack: Idle,
	},
	Withdrawn: {eventAsk: Requested, eventLead: Idle},
	Placed:    {eventAsk: Requested, eventLead: Served, eventOvertake: Overtaken, eventForget: Idle},
	Served:    {eventAsk: Requested, eventUnlead: Placed, eventOvertake: Overtaken, eventForget: Idle},
	Overtaken: {eventAsk: Requested, eventForget: Idle},
}

// Attempt is this unit's last recovery or restore of a database, and its outcome.
type Attempt struct {
	Stage Stage `json:"stage,omitempty"`
	// Request is the operator's request. Its New is the cluster that was made for it. After the old cluster of a recovery
	// was replaced, it is the cluster that replaced it, whichever unit made that one.
	Request Request `json:"request,omitzero"`
	// Why is why it was withdrawn.
	Why finding.Finding `json:"why,omitzero"`
}

func (a Attempt) on(what event) Attempt {
	next, is := transitions[a.Stage][what]
	switch {
	case !is:
		return a
	case next == Idle:
		return Attempt{}
	}
	a.Stage = next
	return a
}

// Pending reports whether the request is neither carried out nor withdrawn.
func (a Attempt) Pending() bool {
	return a.Stage == Requested || a.Stage == Accepted || a.Stage == Made
}

// Replaced reports whether the old cluster was replaced after the request.
func (a Attempt) Replaced() bool {
	return a.Stage == Placed || a.Stage == Served || a.Stage == Overtaken
}

// Of returns the stage if the old cluster was replaced after a request for the same data; otherwise Idle.
func (a Attempt) Of(backup string) Stage {
	if a.Replaced() && a.Request.Backup == backup {
		return a.Stage
	}
	return Idle
}

// AskFor returns the attempt after an operator's request.
func (a Attempt) AskFor(r Request) Attempt {
	a = a.on(eventAsk)
	a.Request, a.Why = r, finding.Finding{}
	return a
}

// Accept returns the attempt after Juju's leader has accepted it.
func (a Attempt) Accept() Attempt { return a.on(eventAccept) }

// TakeBack returns the attempt after an operator has withdrawn it.
func (a Attempt) TakeBack() Attempt { return a.on(eventTakeBack) }

// Forget returns the attempt after an operator has permitted to replace its cluster once more.
func (a Attempt) Forget() Attempt { return a.on(eventForget) }

// Makes returns the attempt after its new cluster was made.
func (a Attempt) Makes(cluster raft.ID) Attempt {
	a = a.on(eventMake)
	a.Request.New = cluster
	return a
}

// Withdraws returns the attempt after it was withdrawn, because it can't be done or another one is accepted. Its new
// cluster stays beside the file: Juju's leader may be publishing its ID right now. The next one that is made, or
// published, replaces it.
func (a Attempt) Withdraws(why finding.Finding) Attempt {
	a = a.on(eventWithdraw)
	a.Why = why
	return a
}

// Seen returns the attempt given the application's cluster, empty if unknown.
func (a Attempt) Seen(cluster raft.ID) Attempt {
	switch {
	case cluster == "" || cluster == a.Request.Cluster:
		return a
	case a.Pending() && a.Request.Backup == "":
		a.Request.New = cluster
	}
	if cluster == a.Request.New {
		return a.on(eventPlace)
	}
	return a.on(eventOvertake)
}

// Led returns the attempt given whether the server here has a leader of the application's cluster.
func (a Attempt) Led(led bool) Attempt {
	if led {
		return a.on(eventLead)
	}
	return a.on(eventUnlead)
}
