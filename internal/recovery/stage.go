package recovery

import (
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// Stage is how far this unit's last recovery or restore of a database has come.
type Stage string

// The stages.
const (
	// Idle: none was asked for, or what was lost is back.
	Idle Stage = ""
	// Requested: an operator has asked for it, and Juju's leader has yet to accept it.
	Requested Stage = "requested"
	// Accepted: Juju's leader has accepted it, and all units stop their servers for it.
	Accepted Stage = "accepted"
	// Made: its new cluster is made, and not published.
	Made Stage = "made"
	// Withdrawn: it is over, and the old cluster stays.
	Withdrawn Stage = "withdrawn"
	// Placed: the new cluster has replaced the old one, and has no leader here.
	Placed Stage = "placed"
	// Served: the new cluster has a leader here, or this unit has no copy of it yet.
	Served Stage = "served"
	// Overtaken: another cluster than the new one is the application's.
	Overtaken Stage = "overtaken"
)

// event is what takes a recovery from one stage to another.
type event string

// The events.
const (
	// eventAsk: an operator asks for it on this unit.
	eventAsk event = "ask"
	// eventAccept: Juju's leader has accepted it.
	eventAccept event = "accept"
	// eventMake: this unit has made the new cluster.
	eventMake event = "make"
	// eventWithdraw: it can't be done, or another one is accepted.
	eventWithdraw event = "withdraw"
	// eventPlace: its new cluster is the application's.
	eventPlace event = "place"
	// eventOvertake: another cluster is the application's.
	eventOvertake event = "overtake"
	// eventLead: the server here has a leader; eventUnlead: it has none.
	eventLead   event = "lead"
	eventUnlead event = "unlead"
	// eventTakeBack: an operator withdraws it.
	eventTakeBack event = "take back"
	// eventForget: an operator permits to replace the cluster once more.
	eventForget event = "forget"
)

// transitions are the stages that follow a stage. An event without an entry changes nothing.
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

// Attempt is this unit's last recovery or restore of a database, and what came of it.
type Attempt struct {
	Stage Stage `json:"stage,omitempty"`
	// Request is what was asked for. Its New is the cluster that was made for it; once a recovery's old cluster was
	// replaced, the one that replaced it, whichever unit had the newest copy.
	Request Request `json:"request,omitzero"`
	// Why is why it was withdrawn.
	Why finding.Finding `json:"why,omitzero"`
}

// on is the attempt after an event.
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

// Pending reports whether the request is not over: the old cluster was not replaced, and the request was not withdrawn.
func (a Attempt) Pending() bool {
	return a.Stage == Requested || a.Stage == Accepted || a.Stage == Made
}

// Replaced reports whether the old cluster was replaced after the request.
func (a Attempt) Replaced() bool {
	return a.Stage == Placed || a.Stage == Served || a.Stage == Overtaken
}

// Of reports whether the old cluster was replaced after a request for the same data, and whose cluster it is by now.
func (a Attempt) Of(backup string) Stage {
	if a.Replaced() && a.Request.Backup == backup {
		return a.Stage
	}
	return Idle
}

// AskFor is the attempt once an operator has asked for a request.
func (a Attempt) AskFor(r Request) Attempt {
	a = a.on(eventAsk)
	a.Request, a.Why = r, finding.Finding{}
	return a
}

// Accept is the attempt once Juju's leader has accepted it.
func (a Attempt) Accept() Attempt { return a.on(eventAccept) }

// TakeBack is the attempt once an operator withdraws it.
func (a Attempt) TakeBack() Attempt { return a.on(eventTakeBack) }

// Forget is the attempt once an operator permits to replace its cluster once more.
func (a Attempt) Forget() Attempt { return a.on(eventForget) }

// Makes is the attempt once its new cluster is made.
func (a Attempt) Makes(cluster raft.ID) Attempt {
	a = a.on(eventMake)
	a.Request.New = cluster
	return a
}

// Withdraws is the attempt once it is withdrawn, for a reason. A new cluster that was made for it stays beside the
// file: the Juju leader may be publishing its ID in this moment. The next one that is made, or published, replaces it.
func (a Attempt) Withdraws(why finding.Finding) Attempt {
	a = a.on(eventWithdraw)
	a.Why = why
	return a
}

// Seen is the attempt by what the application's cluster is; an empty one is not known.
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

// Led is the attempt by whether the server here has a leader of the application's cluster.
func (a Attempt) Led(led bool) Attempt {
	if led {
		return a.on(eventLead)
	}
	return a.on(eventUnlead)
}
