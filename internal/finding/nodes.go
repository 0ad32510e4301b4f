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
	NodeIsVTEP         Code = "NODE_IS_VTEP"
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
	entry(ParameterInvalid, Error, Option, "parameter {name} is {value}",
		"The action does not understand it, or lacks it. Nothing was done.",
		"Give it as the finding says; `juju show-action ovn-central ACTION` has examples."),
	entry(NodeUnknown, Error, Node, "{name} is not the name of a node", "", ""),
	entry(NodeAmbiguous, Error, Node, "{name} means {count} nodes: name the chassis, as chassis:NAME", "", ""),
	entry(NodeUnconfirmed, Error, Node, "this takes {name} out of the cloud: confirm it", "", ""),
	entry(NodesUnread, Error, Node, "the databases can't be read or written", "",
		"Look at cluster-status, then run the same command again."),
	entry(CordonsContended, Error, Node, "other clients keep changing cordons", "", "Run the same command again."),
	entry(HoldUnknown, Error, Node, "{name} has no hold {value}", "", ""),
	entry(HoldDerived, Error, Node, "hold {value} of {name} follows from what is on the node", "", ""),
	entry(DrainBlocked, Error, Node, "gateways would be left on {name}: {count}",
		"No other chassis is alive, not cordoned, and able to host them. Nothing was done.",
		"Put another chassis to use, or undrain one that is named."),
	entry(DrainUnfinished, Error, Node, "{name} is not drained yet",
		"The drain is recorded, and the unit that acts continues it.",
		"See to what is named, and run the same command again; or undrain the node."),
	entry(DrainUndone, Error, Node, "the drain of {name} was undone meanwhile", "", ""),
	entry(NodeDrained, Error, Node, "{name} is drained: only undrain ends its cordon", "", ""),
	entry(NodeNotDrained, Error, Node, "{name} is not drained: it hosts gateways, or may get them again", "", ""),
	entry(NodeSilent, Error, Node, "{name} can't be undrained: its ovn-controller is {value}", "",
		"Start it, or wait until it responds, and run the same command again."),
	entry(NodeResponds, Error, Node, "the ovn-controller of {name} responds", "",
		"Stop it to remove the node. A decommission needs no force."),
	entry(NodeIsVTEP, Error, Node, "{name} is a VTEP gateway: ovn-controller-vtep makes and deletes its chassis",
		"",
		"Take its physical switch out of the VTEP database or, without ovn-controller-vtep, use ovn-sbctl chassis-del."),
	entry(UndrainUnfinished, Error, Node, "{name} is not undrained yet", "", "Run the same command again."),
	entry(UndrainUnproved, Error, Node, "{name} is undrained, but not all of its gateways are known to work", "",
		"Look at what is named, or drain the node again."),
	entry(NodeOfUnit, Error, Node, "{unit} is on the machine of {name} itself", "",
		"Run the same command on another unit."),
	entry(NodeNeeded, Error, Node, "{name} can't be decommissioned now, and nothing was done", "",
		"Repair the clusters, or add a unit, then run the same command again."),
	entry(NodeInUse, Error, Node, "units or members on the machine of {name} have not left", "",
		"Remove what is named, then run the same command again."),
	entry(NothingForced, Error, Node, "no port is bound to {name}, so there is nothing to force", "", ""),
	entry(SilenceUnproved, Error, Node, "{name} can't be forced: that it alone is unreachable is not proved",
		"Force needs a node that follows nothing for 180 s while others do.", "Look at node-status and at ovn-northd."),
	entry(StillCandidate, Error, Node, "gateways that have {name} as a candidate: {count}", "",
		"Give them other candidates, then run the same command again."),
	entry(DecommissionFailed, Error, Node, "{name} is not decommissioned: {value}", "",
		"See to what the step names, and run the same command again: it skips what is done."),
	entry(NodeKept, Error, Node, "{name} can't be removed; reasons: {count}", "", ""),
	entry(NodeNotRemoved, Error, Node, "{name} is not removed", "", "Run the same command again."),
	entry(MachineUnknown, Error, Node, "the units on its machine are not known", "", ""),
	entry(MembersUnread, Error, Node, "the members of {name} are not known", "", ""),
	entry(UnitStays, Error, Node, "{name} is still in the application, and on this machine {reason}", "",
		"Check that it is there before you remove it."),
	entry(MemberStays, Error, Node, "{name} is still a member, {reason}", "", ""),
	entry(MemberLeaves, Error, Node, "{name} is leaving", "", ""),
	entry(FewUpThen, Error, Node, "{name}: without the node {count} members are up; min-members is {total}", "", ""),
	entry(NodeCandidate, Error, Node, "it is candidate {count} of {total}", "", ""),
	entry(NodeInUnusedGroup, Error, Node, "it is a member of the group {name}, which no port uses", "", ""),
}
