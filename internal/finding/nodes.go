package finding

// Why an operation on a node is refused, or is not done.
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

	// What is in the way.
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
	{
		Code: ParameterInvalid, Severity: Error, Kind: Option,
		Line:    "the parameter {name} can't be used",
		Meaning: "The action does not understand it, or lacks it. Nothing was done.",
		Do:      "Give it as the finding says; `juju show-action ovn-central ACTION` has examples.",
	},
	nodeRefusal(NodeUnknown, "{name} is the name of no node", "", ""),
	nodeRefusal(NodeAmbiguous, "{name} means {count} nodes: name the chassis, as chassis:NAME", "", ""),
	nodeRefusal(NodeUnconfirmed, "this takes {name} out of the cloud: confirm it", "", ""),
	nodeRefusal(NodesUnread, "the databases can't be read or written", "",
		"Look at cluster-status, then run the same command again."),
	nodeRefusal(CordonsContended, "other clients keep changing cordons", "", "Run the same command again."),
	nodeRefusal(HoldUnknown, "{name} has no hold {value}", "", ""),
	nodeRefusal(HoldDerived, "hold {value} of {name} follows from what is on the node", "", ""),
	nodeRefusal(DrainBlocked, "gateways would be left on {name}: {count}",
		"No other chassis is alive, not cordoned, and able to host them. Nothing was done.",
		"Put another chassis to use, or undrain one that is named."),
	nodeRefusal(DrainUnfinished, "{name} is not drained yet",
		"The drain is recorded, and the unit that acts continues it.",
		"See to what is named, and run the same command again; or undrain the node."),
	nodeRefusal(DrainUndone, "the drain of {name} was undone meanwhile", "", ""),
	nodeRefusal(NodeDrained, "{name} is drained: only undrain ends its cordon", "", ""),
	nodeRefusal(NodeNotDrained, "{name} is not drained: it hosts gateways, or may get them again", "", ""),
	nodeRefusal(NodeSilent, "{name} can't be undrained: its ovn-controller is {value}", "",
		"Start it, or wait until it responds, and run the same command again."),
	nodeRefusal(NodeResponds, "the ovn-controller of {name} responds", "",
		"Stop it to remove the node. A decommission needs no force."),
	nodeRefusal(UndrainUnfinished, "{name} is not undrained yet", "", "Run the same command again."),
	nodeRefusal(UndrainUnproved, "{name} is undrained, but not all of its gateways are known to work", "",
		"Look at what is named, or drain the node again."),
	nodeRefusal(NodeOfUnit, "{unit} is on the machine of {name} itself", "", "Run the same command on another unit."),
	nodeRefusal(NodeNeeded, "{name} can't be decommissioned now, and nothing was done", "",
		"Repair the clusters, or add a unit, then run the same command again."),
	nodeRefusal(NodeInUse, "units or members on the machine of {name} have not left", "",
		"Remove what is named, then run the same command again."),
	nodeRefusal(NothingForced, "no port is bound to {name}, so there is nothing to force", "", ""),
	nodeRefusal(SilenceUnproved, "{name} can't be forced: that it alone is unreachable is not proved",
		"Force needs a node that follows nothing for 180 s while others do.",
		"Look at node-status and at ovn-northd."),
	nodeRefusal(StillCandidate, "gateways that have {name} as a candidate: {count}", "",
		"Give them other candidates, then run the same command again."),
	nodeRefusal(DecommissionFailed, "{name} is not decommissioned: {value}", "",
		"See to what the step names, and run the same command again: it skips what is done."),
	nodeRefusal(NodeKept, "{name} can't be removed; reasons: {count}", "", ""),
	nodeRefusal(NodeNotRemoved, "{name} is not removed", "", "Run the same command again."),
	nodeRefusal(MachineUnknown, "the units on its machine are not known", "", ""),
	nodeRefusal(MembersUnread, "the members of {name} are not known", "", ""),
	nodeRefusal(UnitStays, "{name} is still in the application, and on this machine {value}", "",
		"Check that it is there before you remove it."),
	nodeRefusal(MemberStays, "{name} is still a member, {value}", "", ""),
	nodeRefusal(MemberLeaves, "{name} is leaving", "", ""),
	nodeRefusal(FewUpThen, "{name}: without the node {count} members are up; min-members is {total}", "", ""),
	nodeRefusal(NodeCandidate, "it is candidate {count} of {total}", "", ""),
	nodeRefusal(NodeInUnusedGroup, "it is a member of the group {name}, which no port uses", "", ""),
}

// nodeRefusal is the entry of a refusal. Its line says most; meaning and do may be empty.
func nodeRefusal(code Code, line, meaning, do string) Entry {
	return Entry{Code: code, Severity: Error, Kind: Node, Line: line, Meaning: meaning, Do: do}
}
