package finding

// Reasons about nodes and their holds.
const (
	CordonedCould ReasonCode = "CORDONED_COULD_HOST"
	AfterWaiting  ReasonCode = "AFTER_WAITING"
	AfterGrace    ReasonCode = "AFTER_GRACE"
	NotYetStable  ReasonCode = "NOT_YET_STABLE"
	IsNegative    ReasonCode = "IS_NEGATIVE"
	IsNotSmaller  ReasonCode = "IS_NOT_SMALLER"
	NameTooLong   ReasonCode = "NAME_TOO_LONG"
	NameMalformed ReasonCode = "NAME_MALFORMED"
	HoldFollows   ReasonCode = "FOLLOWS_FROM_NODE"
	NodeUnnamed   ReasonCode = "NODE_UNNAMED"
	NoChassisInSB ReasonCode = "NO_CHASSIS"
	NodesAre      ReasonCode = "NODES_ARE"
)

// Reasons about the units and the members on a node's machine: by which data of the chassis they were found, and whose
// a member is.
const (
	ClaimsHostAndTunnel ReasonCode = "BY_HOST_AND_TUNNEL"
	ClaimsHost          ReasonCode = "BY_HOST"
	ClaimsTunnel        ReasonCode = "BY_TUNNEL"
	ClaimedBefore       ReasonCode = "BY_EARLIER_CLAIM"
	MemberOfUnit        ReasonCode = "OF_UNIT"
	MemberOfNoUnit      ReasonCode = "OF_NO_UNIT"
	MemberOfUnknown     ReasonCode = "OF_UNKNOWN_UNIT"
)

// Reasons why a chassis can't host a gateway.
const (
	ChassisRemote       ReasonCode = "OF_OTHER_OVN"
	ChassisVTEP         ReasonCode = "IS_VTEP_GATEWAY"
	ChassisUnmarked     ReasonCode = "NO_GATEWAY_CHASSIS"
	ChassisNotExternal  ReasonCode = "NO_EXTPORT_HOST"
	ChassisUnconnected  ReasonCode = "NOT_CONNECTED_TO"
	ChassisOutside      ReasonCode = "OUTSIDE_ZONES"
	ChassisOfMachine    ReasonCode = "RUNS_MACHINE"
	ChassisSilent       ReasonCode = "CHASSIS_SILENT"
	ChassisCordoned     ReasonCode = "IS_CORDONED"
	ChassisMissing      ReasonCode = "NOT_IN_SB"
	ChassisAbsent       ReasonCode = "CHASSIS_ABSENT"
	ChassisCount        ReasonCode = "CHASSIS_COUNT"
	NoChassisLeft       ReasonCode = "NO_CHASSIS_LEFT"
	NoneEligible        ReasonCode = "NONE_ELIGIBLE"
	NoneResponds        ReasonCode = "NONE_RESPONDS"
	NameIsUUID          ReasonCode = "IS_UUID_OF"
	NameIsHost          ReasonCode = "IS_HOST_OF"
	NameIsHostOfSeveral ReasonCode = "IS_HOST_OF_SEVERAL"
)

// Reasons about gateways.
const (
	GatewayCount      ReasonCode = "GATEWAY_COUNT"
	BestSilent        ReasonCode = "BEST_IS_SILENT"
	NeutronGivesNone  ReasonCode = "NEUTRON_GIVES_NONE"
	NeutronsDiffer    ReasonCode = "NEUTRONS_DIFFER"
	NetworksAre       ReasonCode = "NETWORKS_ARE"
	OnNetworks        ReasonCode = "ON_NETWORKS"
	RowNamed          ReasonCode = "ROW_NAMED"
	PinnedBy          ReasonCode = "PINNED_BY"
	PinnedVTEP        ReasonCode = "PINNED_VTEP"
	PinnedAlone       ReasonCode = "PINNED_ALONE"
	PinnedToNone      ReasonCode = "PINNED_TO_NONE"
	PinnedToSilent    ReasonCode = "PINNED_TO_SILENT"
	HostsUnrecorded   ReasonCode = "HOSTS_NOT_RECORDED"
	HadNone           ReasonCode = "HAD_NO_CANDIDATES"
	CanNoLonger       ReasonCode = "CAN_NO_LONGER_HOST"
	Unschedulable     ReasonCode = "UNSCHEDULABLE"
	RanksDiffer       ReasonCode = "RANKS_DIFFER"
	WouldStray        ReasonCode = "WOULD_LOSE_NETWORK"
	NoLongerCandidate ReasonCode = "NO_LONGER_CANDIDATE"
	CannotReturn      ReasonCode = "CANNOT_RETURN"
	OnlyItsRank       ReasonCode = "ONLY_ITS_RANK"
	IsFirst           ReasonCode = "IS_FIRST"
	NoOtherAlive      ReasonCode = "NO_OTHER_ALIVE"
	HostsIt           ReasonCode = "HOSTS_IT"
	FollowsBlocked    ReasonCode = "FOLLOWS_BLOCKED"
	NoCandidateAlive  ReasonCode = "NO_CANDIDATE_ALIVE"
	NoOperationEnded  ReasonCode = "NO_OPERATION_ENDED"
	NoRevision        ReasonCode = "NO_REVISION"
	LayoutGone        ReasonCode = "LAYOUT_GONE"
	LayoutDamaged     ReasonCode = "LAYOUT_DAMAGED"
	PlannedBy         ReasonCode = "PLANNED_BY"
)

// Reasons why a plan changes the rank of a candidate.
const (
	CandidateDrained ReasonCode = "DRAINED"
	CordonedSince    ReasonCode = "CORDONED_SINCE"
	TakesOverFrom    ReasonCode = "TAKES_OVER_FROM"
	OneTooMany       ReasonCode = "ONE_TOO_MANY"
	TakenOut         ReasonCode = "TAKEN_OUT"
	MovedInRank      ReasonCode = "MOVED_IN_RANK"
	OtherPriority    ReasonCode = "OTHER_PRIORITY"
	ListedTwice      ReasonCode = "LISTED_TWICE"
	AsBeforePlan     ReasonCode = "AS_BEFORE_PLAN"
	NotBeforePlan    ReasonCode = "NOT_BEFORE_PLAN"
	AsInRevision     ReasonCode = "AS_IN_REVISION"
	NotInRevision    ReasonCode = "NOT_IN_REVISION"
	AsBeforeDrain    ReasonCode = "AS_BEFORE_DRAIN"
	NotBeforeDrain   ReasonCode = "NOT_BEFORE_DRAIN"
	OnHostOnly       ReasonCode = "ON_HOST_ONLY"
	HadTooFew        ReasonCode = "HAD_TOO_FEW"
	GetsShare        ReasonCode = "GETS_SHARE"
	MayNotCarry      ReasonCode = "MAY_NOT_CARRY"
	BalancesFailure  ReasonCode = "BALANCES_FAILURE"
	SeparatesRouter  ReasonCode = "SEPARATES_ROUTER"
	NeedsBehind      ReasonCode = "NEEDS_NETWORKS_BEHIND"
	HostsMore        ReasonCode = "HOSTS_MORE"
)

// Reasons why an operation on gateways is refused, left out, or not proved.
const (
	ValueIs         ReasonCode = "VALUE_IS"
	NoParameter     ReasonCode = "NO_PARAMETER"
	TakesVersion    ReasonCode = "TAKES_VERSION"
	SameVersion     ReasonCode = "SAME_VERSION"
	OnlyPlanned     ReasonCode = "ONLY_PLANNED"
	OperationsRun   ReasonCode = "OPERATIONS_RUN"
	RevertOrRestore ReasonCode = "REVERT_OR_RESTORE"
	JournalEmpty    ReasonCode = "JOURNAL_EMPTY"
	NotInJournal    ReasonCode = "NOT_IN_JOURNAL"
	LayoutNotKept   ReasonCode = "LAYOUT_NOT_KEPT"
	ByOtherClient   ReasonCode = "BY_OTHER_CLIENT"
	ByPlan          ReasonCode = "BY_PLAN"
	ByPlanShown     ReasonCode = "BY_PLAN_SHOWN"
	PlanInterrupts  ReasonCode = "PLAN_INTERRUPTS"
	PlanExceeds     ReasonCode = "PLAN_EXCEEDS"
	CheckSkipped    ReasonCode = "CHECK_SKIPPED"
	NoIntermediate  ReasonCode = "NO_INTERMEDIATE"
	ReviewAgain     ReasonCode = "REVIEW_AGAIN"
	LeftUnreviewed  ReasonCode = "LEFT_UNREVIEWED"
	TakesNoneBack   ReasonCode = "TAKES_NONE_BACK"
	NorthdBehindNow ReasonCode = "NORTHD_IS_BEHIND"
	WithinLimit     ReasonCode = "WITHIN_LIMIT"
	InTime          ReasonCode = "IN_TIME"
	BeforeStop      ReasonCode = "BEFORE_STOP"
	NotBoundAfter   ReasonCode = "NOT_BOUND_AFTER"
	RestartIt       ReasonCode = "RESTART_IT"
	RestartOrUndo   ReasonCode = "RESTART_OR_UNDO"
)

// Reasons why a plan balances a network no better.
const (
	BoundByMaxMoves  ReasonCode = "MAX_MOVES"
	BoundByChassis   ReasonCode = "NO_CHASSIS_TAKES"
	BoundUnhosted    ReasonCode = "NONE_BOUND"
	BoundBalanced    ReasonCode = "BALANCED"
	BoundFewestMoves ReasonCode = "FEWEST_MOVES"
	BoundOfSingle    ReasonCode = "OPTIMAL_FOR_SINGLE"
	BoundOfAll       ReasonCode = "OPTIMAL"
	BoundSeparating  ReasonCode = "SEPARATING_MOVES"
)

const checkNorthd = "check that it is running and what its log says, then run this again"

var gatewayReasons = map[ReasonCode]string{
	CordonedCould: "these cordoned nodes could host them: {value}",
	AfterWaiting:  "after {after}",
	AfterGrace:    "after the grace period of {after}",
	NotYetStable:  "it has not responded for {after} yet",
	IsNegative:    "{value} is negative",
	IsNotSmaller:  "{value} is not smaller than timeout {name}",
	NameTooLong:   "it has {count} characters, and {total} are allowed",
	NameMalformed: "{value} is not lower case letters, digits, dots, dashes and underscores, with a " +
		"letter or a digit first",
	HoldFollows:         "{value} follows from what is on the node",
	NodeUnnamed:         "give its host name or the name of its chassis",
	NoChassisInSB:       "SB has no chassis",
	NodesAre:            "nodes: {value}",
	ClaimsHostAndTunnel: "by the host name and the tunnel address that the chassis claims",
	ClaimsHost:          "by the host name that the chassis claims",
	ClaimsTunnel:        "by the tunnel address that the chassis claims",
	ClaimedBefore:       "by what the chassis claimed when its drain began",
	MemberOfUnit:        "of {name}",
	MemberOfNoUnit:      "of no unit any more",
	MemberOfUnknown:     "of an unknown unit: see cluster-status",
	ChassisRemote:       "it belongs to another OVN",
	ChassisVTEP:         "it is a VTEP gateway",
	ChassisUnmarked:     "it has no enable-chassis-as-gw",
	ChassisNotExternal:  "it has no enable-chassis-as-extport-host",
	ChassisUnconnected:  "it is not connected to {value}",
	ChassisOutside:      "it is in none of the zones {value}",
	ChassisOfMachine:    "it runs the port's virtual machine",
	ChassisSilent:       "its ovn-controller is not responding (nb_cfg is stale)",
	ChassisCordoned:     "it is cordoned",
	ChassisMissing:      "SB has no such chassis",
	ChassisAbsent:       "the chassis does not exist",
	ChassisCount:        "{count} chassis",
	NoChassisLeft:       "no other chassis exists",
	NoneEligible:        "no chassis is eligible",
	NoneResponds:        "no chassis that should responds, so that it stays",
	NameIsUUID:          "it is the UUID of the row of chassis {name}",
	NameIsHost:          "it is the host name of chassis {name}",
	NameIsHostOfSeveral: "it is the host name of several chassis",
	GatewayCount:        "gateways: {count}, external ports: {total}",
	BestSilent:          "ovn-controller on {name} is not responding",
	NeutronGivesNone:    "Neutron gives new gateways no chassis",
	NeutronsDiffer: "Neutron up to 2023.1 takes every chassis that has the network, later ones give " +
		"new gateways none",
	NetworksAre:       "networks with gateways: {value}",
	OnNetworks:        "on {value}",
	RowNamed:          "the row is named {value}, and should be {name}",
	PinnedBy:          "by options:{value}",
	PinnedVTEP:        "by options:{value}, which only another VTEP gateway could take over",
	PinnedAlone:       "by options:{value}, and no other chassis can host it",
	PinnedToNone:      "there is no such chassis",
	PinnedToSilent:    "its ovn-controller does not respond",
	HostsUnrecorded:   "no record says any more which chassis may host it",
	HadNone:           "it had no candidates",
	CanNoLonger:       "{name} can no longer host it",
	Unschedulable:     "{name} is unschedulable",
	RanksDiffer:       "{value} then, {name} now",
	WouldStray:        "another chassis would host it without its network",
	NoLongerCandidate: "{name} is no longer a candidate",
	CannotReturn:      "{name} cannot take it back",
	OnlyItsRank:       "only the rank of {name} is put back",
	IsFirst:           "it is the first candidate",
	NoOtherAlive:      "no other one is alive and not cordoned",
	HostsIt:           "it hosts this",
	FollowsBlocked:    "its ports follow {name}",
	NoCandidateAlive:  "none of its other candidates is alive and not cordoned",
	NoOperationEnded:  "no operation has ended that way yet",
	NoRevision:        "no revision that is kept has this ID",
	LayoutGone:        "the layout of operation {name} is gone",
	LayoutDamaged:     "the layout of operation {name} is damaged",
	PlannedBy:         "by {name}",
	CandidateDrained:  "drained",
	CordonedSince:     "it is cordoned, and took this since",
	TakesOverFrom:     "takes over from {name}",
	OneTooMany:        "it is unschedulable, and a gateway has no more than five candidates",
	TakenOut:          "it is taken out",
	MovedInRank:       "moved in rank",
	OtherPriority:     "another priority",
	ListedTwice:       "it is listed twice",
	AsBeforePlan:      "restored: it was so before the plan",
	NotBeforePlan:     "not a candidate before the plan",
	AsInRevision:      "restored: it was so in the revision",
	NotInRevision:     "not a candidate in the revision",
	AsBeforeDrain:     "as before {name} was drained",
	NotBeforeDrain:    "not a candidate before {name} was drained",
	OnHostOnly:        "external ports work only on the chassis that hosts {name}",
	HadTooFew:         "the gateway had {count} of {total} candidates",
	GetsShare:         "{name} was added and gets its share of the backups",
	MayNotCarry:       "moved to a chassis that may not carry it",
	BalancesFailure:   "balances the load if {name} fails",
	SeparatesRouter:   "a chassis should not host two gateways of a router",
	NeedsBehind:       "the host needs the networks of the ports behind the gateway",
	HostsMore:         "{name} hosts more than {value}",
	ValueIs:           "{name} is {value}",
	NoParameter:       "there is no parameter {name}; there are {value}",
	TakesVersion:      "it takes {value} or an ID from the list",
	SameVersion:       "base and diff are both {value}: there is nothing to compare",
	OnlyPlanned:       "networks and a plan can only be given if diff is {value}",
	OperationsRun:     "{count} operations are running already",
	RevertOrRestore:   "revert a plan or bring back a layout, not both at once",
	JournalEmpty:      "the journal has no plan {name}: it is empty",
	NotInJournal:      "the journal has no plan {name}; it has {value}",
	LayoutNotKept:     "its layout is not kept",
	ByOtherClient:     "by another client",
	ByPlan:            "by plan {name} at {value}",
	ByPlanShown:       "by plan {name} at {value}; to see it, run: {because}",
	PlanInterrupts:    "the plan now interrupts gateways; run it again to review",
	PlanExceeds:       "the plan now exceeds the {value} that were confirmed; run it again to review",
	CheckSkipped:      "skipping the check for intermediate commits: {because}",
	NoIntermediate:    "nothing was changed since the review",
	ReviewAgain: "nothing is changed: review the plan again with a dry run, or allow intermediate " +
		"commits",
	LeftUnreviewed:   "left: {value}: their plan was not reviewed; review it with a dry run",
	TakesNoneBack:    "{name} cannot take its gateways back",
	NorthdBehindNow:  "ovn-northd did not process the changes",
	WithinLimit:      "within {after}; " + checkNorthd,
	InTime:           "in time ({value}); " + checkNorthd,
	BeforeStop:       "yet ({value}); run this again",
	NotBoundAfter:    "not bound as expected after {after}: {value}",
	RestartIt:        "{value}; restart it",
	RestartOrUndo:    "{value}; restart it, or to move them back, run: {name}",
	BoundByMaxMoves:  "as balanced as max-moves={count} allows",
	BoundByChassis:   "no chassis can take a gateway now",
	BoundUnhosted:    "no gateway is bound",
	BoundBalanced:    "already balanced",
	BoundFewestMoves: "balanced; {value} is the lower bound: chassis hold {name} above their share",
	BoundOfSingle: "optimal for gateways of one port; not proved optimal for {value} of several ports, which " +
		"move together",
	BoundSeparating: "{value} more, so that no chassis hosts two gateways of a router",
	BoundOfAll: "optimal among the candidates: no chain of moves balances the load better, or as well with fewer " +
		"moves",
}
