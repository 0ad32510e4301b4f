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
)

var nodeEntries = []Entry{
	{
		Code: ParameterInvalid, Severity: Error, Kind: Node,
		Line: "the parameter {name} can't be used",
	},
	{
		Code: NodeUnknown, Severity: Error, Kind: Node,
		Line: "{name} is the name of no node",
	},
	{
		Code: NodeAmbiguous, Severity: Error, Kind: Node,
		Line: "{name} means {count} nodes: name the chassis, as chassis:NAME",
	},
	{
		Code: NodeUnconfirmed, Severity: Error, Kind: Node,
		Line: "this takes {name} out of the cloud: confirm it",
	},
	{
		Code: NodesUnread, Severity: Error, Kind: Node,
		Line: "the databases can't be read or written",
		Do:   "Look at cluster-status, then run the same command again.",
	},
	{
		Code: CordonsContended, Severity: Error, Kind: Node,
		Line: "other clients keep changing cordons",
		Do:   "Run the same command again.",
	},
	{
		Code: HoldUnknown, Severity: Error, Kind: Node,
		Line: "{name} has no hold {value}",
	},
	{
		Code: HoldDerived, Severity: Error, Kind: Node,
		Line: "hold {value} of {name} follows from what is on the node",
	},
	{
		Code: DrainBlocked, Severity: Error, Kind: Node,
		Line:    "gateways would be left on {name}: {count}",
		Meaning: "No other chassis is alive, not cordoned, and able to host them. Nothing was done.",
		Do:      "Put another chassis to use, or undrain one that is named.",
	},
	{
		Code: DrainUnfinished, Severity: Error, Kind: Node,
		Line:    "{name} is not drained yet",
		Meaning: "The drain is recorded, and the unit that acts continues it.",
		Do:      "See to what is named, and run the same command again; or undrain the node.",
	},
	{
		Code: DrainUndone, Severity: Error, Kind: Node,
		Line: "the drain of {name} was undone meanwhile",
	},
	{
		Code: NodeDrained, Severity: Error, Kind: Node,
		Line: "{name} is drained: only undrain ends its cordon",
	},
	{
		Code: NodeNotDrained, Severity: Error, Kind: Node,
		Line: "{name} is not drained: it hosts gateways, or may get them again",
	},
	{
		Code: NodeSilent, Severity: Error, Kind: Node,
		Line: "{name} can't be undrained: its ovn-controller is {value}",
		Do:   "Start it, or wait until it responds, and run the same command again.",
	},
	{
		Code: NodeResponds, Severity: Error, Kind: Node,
		Line: "the ovn-controller of {name} responds",
		Do:   "Stop it to remove the node. A decommission needs no force.",
	},
	{
		Code: UndrainUnfinished, Severity: Error, Kind: Node,
		Line: "{name} is not undrained yet",
		Do:   "Run the same command again.",
	},
	{
		Code: UndrainUnproved, Severity: Error, Kind: Node,
		Line: "{name} is undrained, but not all of its gateways are known to work",
		Do:   "Look at what is named, or drain the node again.",
	},
	{
		Code: NodeOfUnit, Severity: Error, Kind: Node,
		Line: "{unit} is on the machine of {name} itself",
		Do:   "Run the same command on another unit.",
	},
	{
		Code: NodeNeeded, Severity: Error, Kind: Node,
		Line: "{name} can't be decommissioned now, and nothing was done",
		Do:   "Repair the clusters, or add a unit, then run the same command again.",
	},
	{
		Code: NodeInUse, Severity: Error, Kind: Node,
		Line: "units or members on the machine of {name} have not left",
		Do:   "Remove what is named, then run the same command again.",
	},
	{
		Code: NothingForced, Severity: Error, Kind: Node,
		Line: "no port is bound to {name}, so there is nothing to force",
	},
	{
		Code: SilenceUnproved, Severity: Error, Kind: Node,
		Line:    "{name} can't be forced: that it alone is unreachable is not proved",
		Meaning: "Force needs a node that follows nothing for 180 s while others do.",
		Do:      "Look at node-status and at ovn-northd.",
	},
	{
		Code: StillCandidate, Severity: Error, Kind: Node,
		Line: "gateways that have {name} as a candidate: {count}",
		Do:   "Give them other candidates, then run the same command again.",
	},
	{
		Code: DecommissionFailed, Severity: Error, Kind: Node,
		Line: "{name} is not decommissioned: {value}",
		Do:   "See to what the step names, and run the same command again: it skips what is done.",
	},
	{
		Code: NodeKept, Severity: Error, Kind: Node,
		Line: "{name} can't be removed, for {count} reasons",
	},
	{
		Code: NodeNotRemoved, Severity: Error, Kind: Node,
		Line: "{name} is not removed",
		Do:   "Run the same command again.",
	},
}
