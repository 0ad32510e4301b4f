package finding

// Codes of refused or failed operations on a node.
const (
	ParameterInvalid   Code = "PARAMETER_INVALID"
	NodeUnknown        Code = "NODE_UNKNOWN"
	NodeAmbiguous      Code = "NODE_AMBIGUOUS"
	NodeUnconfirmed    Code = "NODE_UNCONFIRMED"
	NodesUnread        Code = "NODES_UNREAD"
	CordonsContended   Code = "CORDONS_CONTENDED"
	HoldUnknown        Code = "HOLD_UNKNOWN"
	HoldDerived        Code = "HOLD_DERIVED"
	DrainBlocked       Code = "DRAIN_BLOCKED"
	DrainUnfinished    Code = "DRAIN_UNFINISHED"
	DrainUndone        Code = "DRAIN_UNDONE"
	NodeDrained        Code = "NODE_DRAINED"
	NodeNotDrained     Code = "NODE_NOT_DRAINED"
	NodeSilent         Code = "NODE_SILENT"
	NodeResponds       Code = "NODE_RESPONDS"
	UndrainUnfinished  Code = "UNDRAIN_UNFINISHED"
	UndrainUnproved    Code = "UNDRAIN_UNPROVED"
	NodeOfUnit         Code = "NODE_OF_UNIT"
	NodeNeeded         Code = "NODE_NEEDED"
	NodeInUse          Code = "NODE_IN_USE"
	NothingForced      Code = "NOTHING_FORCED"
	SilenceUnproved    Code = "SILENCE_UNPROVED"
	StillCandidate     Code = "STILL_CANDIDATE"
	DecommissionFailed Code = "DECOMMISSION_FAILED"
	NodeKept           Code = "NODE_KEPT"
	NodeNotRemoved     Code = "NODE_NOT_REMOVED"

	// The causes of refusals.
	MachineUnknown    Code = "MACHINE_UNKNOWN"
	MembersUnread     Code = "MEMBERS_UNREAD"
	UnitStays         Code = "UNIT_STAYS"
	MemberStays       Code = "MEMBER_STAYS"
	MemberLeaves      Code = "MEMBER_LEAVES"
	FewUpThen         Code = "FEW_UP_THEN"
	NodeCandidate     Code = "NODE_IS_CANDIDATE"
	NodeInUnusedGroup Code = "NODE_IN_UNUSED_GROUP"
)

var nodeEntries = []Entry{
	entry(ParameterInvalid, Error, Option, "the parameter {name} can't be used"),
	entry(NodeUnknown, Error, Node, "{name} is not the name of a node"),
	entry(NodeAmbiguous, Error, Node, "{name} means {count} nodes: name the chassis, as chassis:NAME"),
	entry(NodeUnconfirmed, Error, Node, "this takes {name} out of the cloud: confirm it"),
	entry(NodesUnread, Error, Node, "the databases can't be read or written"),
	entry(CordonsContended, Error, Node, "other clients keep changing cordons"),
	entry(HoldUnknown, Error, Node, "{name} has no hold {value}"),
	entry(HoldDerived, Error, Node, "hold {value} of {name} follows from what is on the node"),
	entry(DrainBlocked, Error, Node, "gateways would be left on {name}: {count}"),
	entry(DrainUnfinished, Error, Node, "{name} is not drained yet"),
	entry(DrainUndone, Error, Node, "the drain of {name} was undone meanwhile"),
	entry(NodeDrained, Error, Node, "{name} is drained: only undrain ends its cordon"),
	entry(NodeNotDrained, Error, Node, "{name} is not drained: it hosts gateways, or may get them again"),
	entry(NodeSilent, Error, Node, "{name} can't be undrained: its ovn-controller is {value}"),
	entry(NodeResponds, Error, Node, "the ovn-controller of {name} responds"),
	entry(UndrainUnfinished, Error, Node, "{name} is not undrained yet"),
	entry(UndrainUnproved, Error, Node, "{name} is undrained, but not all of its gateways are known to work"),
	entry(NodeOfUnit, Error, Node, "{unit} is on the machine of {name} itself"),
	entry(NodeNeeded, Error, Node, "{name} can't be decommissioned now, and nothing was done"),
	entry(NodeInUse, Error, Node, "units or members on the machine of {name} have not left"),
	entry(NothingForced, Error, Node, "no port is bound to {name}, so there is nothing to force"),
	entry(SilenceUnproved, Error, Node, "{name} can't be forced: that it alone is unreachable is not proved"),
	entry(StillCandidate, Error, Node, "gateways that have {name} as a candidate: {count}"),
	entry(DecommissionFailed, Error, Node, "{name} is not decommissioned: {value}"),
	entry(NodeKept, Error, Node, "{name} can't be removed; reasons: {count}"),
	entry(NodeNotRemoved, Error, Node, "{name} is not removed"),
	entry(MachineUnknown, Error, Node, "the units on its machine are not known"),
	entry(MembersUnread, Error, Node, "the members of {name} are not known"),
	entry(UnitStays, Error, Node, "{name} is still in the application, and on this machine {value}"),
	entry(MemberStays, Error, Node, "{name} is still a member, {value}"),
	entry(MemberLeaves, Error, Node, "{name} is leaving"),
	entry(FewUpThen, Error, Node, "{name}: without the node {count} members are up; min-members is {total}"),
	entry(NodeCandidate, Error, Node, "it is candidate {count} of {total}"),
	entry(NodeInUnusedGroup, Error, Node, "it is a member of the group {name}, which no port uses"),
}
