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

// transition has the next stage by the present one. A stage without an entry stays.
type transition map[Stage]Stage

// The transitions. The methods of [Attempt] explain them.
var (
	onAsk = transition{
		Idle: Requested, Requested: Requested, Accepted: Requested, Made: Made, Withdrawn: Requested, Placed: Requested,
		Served: Requested, Overtaken: Requested,
	}
	onAccept   = transition{Requested: Accepted}
	onMake     = transition{Accepted: Made, Made: Made}
	onWithdraw = transition{Requested: Withdrawn, Accepted: Withdrawn, Made: Withdrawn}
	onTakeBack = transition{Requested: Idle, Accepted: Idle, Made: Idle}
	onPlace    = transition{Requested: Placed, Accepted: Placed, Made: Placed}
	onOvertake = transition{
		Requested: Overtaken, Accepted: Overtaken, Made: Overtaken, Placed: Overtaken, Served: Overtaken,
	}
	onLead   = transition{Placed: Served, Withdrawn: Idle}
	onUnlead = transition{Served: Placed}
	onForget = transition{Placed: Idle, Served: Idle, Overtaken: Idle}
)

// Attempt is this unit's last recovery or restore of a database, and its outcome.
type Attempt struct {
	Stage Stage `json:"stage,omitempty"`
	// Request is the operator's request. Its New is the cluster that was made for it. After the old cluster of a recovery
	// was replaced, it is the cluster that replaced it, whichever unit made that one.
	Request Request `json:"request,omitzero"`
	// Why is why it was withdrawn.
	Why finding.Finding `json:"why,omitzero"`
}

func (a Attempt) on(what transition) Attempt {
	next, is := what[a.Stage]
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
	a = a.on(onAsk)
	a.Request, a.Why = r, finding.Finding{}
	return a
}

// Accept returns the attempt after Juju's leader has accepted it.
func (a Attempt) Accept() Attempt { return a.on(onAccept) }

// TakeBack returns the attempt after an operator has withdrawn it.
func (a Attempt) TakeBack() Attempt { return a.on(onTakeBack) }

// Forget returns the attempt after an operator has permitted to replace its cluster once more.
func (a Attempt) Forget() Attempt { return a.on(onForget) }

// Makes returns the attempt after its new cluster was made.
func (a Attempt) Makes(cluster raft.ID) Attempt {
	a = a.on(onMake)
	a.Request.New = cluster
	return a
}

// Withdraws returns the attempt after it was withdrawn, because it can't be done or another one is accepted. Its new
// cluster stays beside the file: Juju's leader may be publishing its ID right now. The next one that is made, or
// published, replaces it.
func (a Attempt) Withdraws(why finding.Finding) Attempt {
	a = a.on(onWithdraw)
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
		return a.on(onPlace)
	}
	return a.on(onOvertake)
}

// Led returns the attempt given whether the server here has a leader of the application's cluster.
func (a Attempt) Led(led bool) Attempt {
	if led {
		return a.on(onLead)
	}
	return a.on(onUnlead)
}
