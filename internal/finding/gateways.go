package finding

// What is wrong with gateways and chassis: what hosts them, the rows that name candidates, and what a plan leaves as it is.
const (
	NoGatewayBound          Code = "NO_GATEWAY_BOUND"
	NoChassisResponds       Code = "NO_CHASSIS_RESPONDS"
	GatewayUnbound          Code = "GATEWAY_UNBOUND"
	GatewayMisplaced        Code = "GATEWAY_MISPLACED"
	GatewayHostSilent       Code = "GATEWAY_HOST_SILENT"
	PinnedUnhosted          Code = "PINNED_UNHOSTED"
	ExternalUnserved        Code = "EXTERNAL_PORTS_UNSERVED"
	ExternalUngrouped       Code = "EXTERNAL_PORT_UNGROUPED"
	ExternalGatewayUnknown  Code = "EXTERNAL_GATEWAY_UNKNOWN"
	ExternalRoutersSeveral  Code = "EXTERNAL_ROUTERS_SEVERAL"
	NewHostSilent           Code = "NEW_HOST_SILENT"
	BindingMissing          Code = "BINDING_MISSING"
	BindingsUnsettled       Code = "BINDINGS_UNSETTLED"
	NorthdBehind            Code = "NORTHD_BEHIND"
	NoChassisMarked         Code = "NO_CHASSIS_MARKED"
	GatewayWithoutCandidate Code = "GATEWAY_WITHOUT_CANDIDATE"
	GatewayWithoutRouter    Code = "GATEWAY_WITHOUT_ROUTER"
	GatewayOutsideGroup     Code = "GATEWAY_OUTSIDE_GROUP"
	SingleCandidate         Code = "SINGLE_CANDIDATE"
	HostNotAllowed          Code = "HOST_NOT_ALLOWED"
	CandidateInvalid        Code = "CANDIDATE_INVALID"
	CandidateRepeated       Code = "CANDIDATE_REPEATED"
	CandidatesTied          Code = "CANDIDATES_TIED"
	CandidatesTooMany       Code = "CANDIDATES_TOO_MANY"
	CandidatesIncomplete    Code = "CANDIDATES_INCOMPLETE"
	CandidateMisnamed       Code = "CANDIDATE_MISNAMED"
	CandidateUnknown        Code = "CANDIDATE_UNKNOWN"
	CandidatesIgnored       Code = "CANDIDATES_IGNORED"
	GatewayNetworkUnknown   Code = "GATEWAY_NETWORK_UNKNOWN"
	GatewayStoredTwice      Code = "GATEWAY_STORED_TWICE"
	GroupNameTaken          Code = "GROUP_NAME_TAKEN"
	GroupShared             Code = "GROUP_SHARED"
	GroupUnused             Code = "GROUP_UNUSED"
	ZoneHintsInvalid        Code = "ZONE_HINTS_INVALID"
	RowNameInvalid          Code = "ROW_NAME_INVALID"
	MappingsInvalid         Code = "BRIDGE_MAPPINGS_INVALID"
	ChassisIncomplete       Code = "CHASSIS_INCOMPLETE"
	ChassisUnknown          Code = "CHASSIS_UNKNOWN"
	NetworkUnknown          Code = "NETWORK_UNKNOWN"
	JournalUnread           Code = "JOURNAL_UNREAD"
	PlanUnfinished          Code = "PLAN_UNFINISHED"
	MemberUnowned           Code = "MEMBER_UNOWNED"
	GatewayStays            Code = "GATEWAY_STAYS"
	GatewayPinned           Code = "GATEWAY_PINNED"
	CandidateStays          Code = "CANDIDATE_STAYS"
	GatewayGone             Code = "GATEWAY_GONE"
	GatewayNotRestored      Code = "GATEWAY_NOT_RESTORED"
	CandidatesChanged       Code = "CANDIDATES_CHANGED"
	MovesUsedUp             Code = "MOVES_USED_UP"
	NewCandidateNeeded      Code = "NEW_CANDIDATE_NEEDED"
	CordonKept              Code = "CORDON_KEPT"
	WouldInterrupt          Code = "WOULD_INTERRUPT"
)

// Gateways are no concern of the unit that reports them: they are not in its status line.
var gatewayEntries = []Entry{
	{
		Code: NoGatewayBound, Severity: Warning, Kind: Gateway, Quiet: true,
		Line:    "no gateway is bound; ovn-controllers that respond: {count} of {total}",
		Meaning: "No router reaches its provider network.",
		Do:      "See whether the ovn-controllers run and reach the Southbound database.",
	},
	{
		Code: NoChassisResponds, Severity: Warning, Kind: Chassis, Quiet: true,
		Line:    "none of {total} ovn-controllers responds: what they host may not work",
		Meaning: "No chassis follows the Southbound database.",
		Do:      "See whether ovn-northd works, and whether the chassis reach the Southbound database.",
	},
	{
		Code: GatewayUnbound, Severity: Warning, Kind: Gateway, Quiet: true,
		Line:    "{name} is not bound to any chassis; expected {value}",
		Meaning: "No chassis hosts it. That is normal for a second after a change.",
		Do:      "If it lasts, have the expected chassis compute everything again, which interrupts nothing.",
	},
	{
		Code: GatewayMisplaced, Severity: Warning, Kind: Gateway, Quiet: true,
		Line:    "{name} is bound to {other}; expected {value}",
		Meaning: "A chassis hosts it that is not the best of its candidates.",
		Do:      "See whether the chassis reach each other.",
	},
	{
		Code: GatewayHostSilent, Severity: Warning, Kind: Gateway, Quiet: true,
		Line:    "{name} is bound to {value}, whose ovn-controller does not respond",
		Meaning: "It may not work, and nothing takes over while the chassis is heard.",
		Do:      "Restart that ovn-controller, or run reschedule.",
	},
	{
		Code: PinnedUnhosted, Severity: Warning, Kind: Gateway, Quiet: true,
		Line:    "no chassis can host {name}, which is pinned to {value}",
		Meaning: "OVN never moves what one chassis hosts by configuration. An option must have the name of the chassis, not its host name.",
		Do:      "Mend the chassis, or pin it to another one.",
	},
	{
		Code: ExternalUnserved, Severity: Warning, Kind: Gateway, Quiet: true,
		Line:    "no chassis serves the external ports of {name}",
		Meaning: "DHCP and ARP are not answered there.",
		Do:      "Run reschedule; if no chassis is eligible, connect one to the network.",
	},
	{
		Code: ExternalUngrouped, Severity: Warning, Kind: Gateway, Quiet: true,
		Line:    "external port {name} has no HA_Chassis_Group: no chassis serves it",
		Meaning: "DHCP and ARP are not answered there.",
		Do:      "Let its client give it a group.",
	},
	{
		Code: ExternalGatewayUnknown, Severity: Warning, Kind: Gateway, Quiet: true,
		Line:    "{name} follows the gateway {value}, which is unknown",
		Meaning: "External ports work on the chassis of their router's gateway.",
		Do:      "Give the router a gateway.",
	},
	{
		Code: ExternalRoutersSeveral, Severity: Info, Kind: Gateway, Quiet: true,
		Line:    "the external ports of {name} have several routers; they follow {value}",
		Meaning: "They can be on the chassis of one gateway only.",
		Do:      "Nothing.",
	},
	{
		Code: NewHostSilent, Severity: Warning, Kind: Chassis, Quiet: true,
		Line:    "ovn-controller does not respond on {name}, to which gateways were moved",
		Meaning: "The gateways may not work there.",
		Do:      "Restart it, or revert the plan.",
	},
	{
		Code: BindingMissing, Severity: Warning, Kind: Gateway, Quiet: true,
		Line:    "{name} has no Port_Binding",
		Meaning: "It is to be created in the Southbound database by ovn-northd.",
		Do:      "See what the log of ovn-northd says.",
	},
	{
		Code: BindingsUnsettled, Severity: Info, Kind: Gateway, Quiet: true,
		Line:    "bound as expected, but not yet for {duration}",
		Meaning: "Gateways bounce while chassis don't hear each other yet.",
		Do:      "Look again.",
	},
	{
		Code: NorthdBehind, Severity: Warning, Kind: Northd, Quiet: true,
		Line:    "ovn-northd has not followed yet: nb_cfg {count} of {total}",
		Meaning: "Until it has, which chassis respond is not known.",
		Do:      "If it lasts, see what its log says.",
	},
	{
		Code: NoChassisMarked, Severity: Warning, Kind: Chassis, Quiet: true,
		Line:    "no chassis has enable-chassis-as-gw",
		Meaning: "Neutron knows chassis for gateways by it.",
		Do:      "Mark them.",
	},
	{
		Code: GatewayWithoutCandidate, Severity: Warning, Kind: Gateway, Quiet: true,
		Line:    "{name} has no candidate",
		Meaning: "No chassis may host it.",
		Do:      "Run reschedule; if no chassis is eligible, docs/reference/gateway-hosts.md says why.",
	},
	{
		Code: GatewayWithoutRouter, Severity: Warning, Kind: Gateway, Quiet: true,
		Line:    "{name} has no candidate, and belongs to no router",
		Meaning: "A port is left of a router.",
		Do:      "Remove it.",
	},
	{
		Code: GatewayOutsideGroup, Severity: Warning, Kind: Gateway, Quiet: true,
		Line:    "{name} has no candidate, and is not in the group of its router {value}",
		Meaning: "No chassis hosts it.",
		Do:      "Give it the group.",
	},
	{
		Code: SingleCandidate, Severity: Warning, Kind: Gateway, Quiet: true,
		Line:    "{value} is the only candidate of {name}; eligible chassis: {count}",
		Meaning: "If that chassis fails, no other one takes over.",
		Do:      "Run reschedule, or make another chassis eligible.",
	},
	{
		Code: HostNotAllowed, Severity: Warning, Kind: Gateway, Quiet: true,
		Line:    "{value} hosts {name}, and should not",
		Meaning: "The rules of its owner don't allow that chassis.",
		Do:      "Run reschedule. It stays while no chassis that should host it responds.",
	},
	{
		Code: CandidateInvalid, Severity: Warning, Kind: Gateway, Quiet: true,
		Line:    "candidate {value} of {name} cannot host it",
		Meaning: "It would not take over.",
		Do:      "Run reschedule, which replaces it.",
	},
	{
		Code: CandidateRepeated, Severity: Info, Kind: Gateway, Quiet: true,
		Line:    "{name} lists the candidate {value} twice",
		Meaning: "The better rank counts.",
		Do:      "Run reschedule, which drops the other.",
	},
	{
		Code: CandidatesTied, Severity: Info, Kind: Gateway, Quiet: true,
		Line:    "{value} and {other} have the same priority {count} for {name}",
		Meaning: "OVN takes the larger name.",
		Do:      "Nothing.",
	},
	{
		Code: CandidatesTooMany, Severity: Warning, Kind: Gateway, Quiet: true,
		Line:    "{name} has {count} candidates; Neutron keeps {total}",
		Meaning: "With more, OVN watches more tunnels.",
		Do:      "Drop the last ones; reschedule leaves them.",
	},
	{
		Code: CandidatesIncomplete, Severity: Info, Kind: Gateway, Quiet: true,
		Line:    "{name}: gateways with fewer than {total} candidates: {count}",
		Meaning: "Chassis that could be candidates take nothing new now.",
		Do:      "Run reschedule once they do.",
	},
	{
		Code: CandidateMisnamed, Severity: Warning, Kind: Gateway, Quiet: true,
		Line:    "Neutron can't read the row of the candidate {value} of {name}",
		Meaning: "Neutron goes by the names of rows.",
		Do:      "Remove the row; Neutron, or reschedule, adds one.",
	},
	{
		Code: CandidateUnknown, Severity: Warning, Kind: Chassis, Quiet: true,
		Line:    "{name} is a candidate of gateways, and no chassis",
		Meaning: "Its machine is gone, or never came.",
		Do:      "Run reschedule if it does not come back.",
	},
	{
		Code: CandidatesIgnored, Severity: Warning, Kind: Gateway, Quiet: true,
		Line:    "OVN ignores the candidates of {name}: its router {value} is pinned",
		Meaning: "The log of ovn-northd has a bad configuration.",
		Do:      "Remove the candidates.",
	},
	{
		Code: GatewayNetworkUnknown, Severity: Warning, Kind: Gateway, Quiet: true,
		Line:    "{name} is connected to no provider network; left as it is",
		Meaning: "Nothing says which chassis could host it.",
		Do:      "Nothing.",
	},
	{
		Code: GatewayStoredTwice, Severity: Info, Kind: Gateway, Quiet: true,
		Line:    "{name} has an HA_Chassis_Group and Gateway_Chassis",
		Meaning: "OVN ignores the latter.",
		Do:      "Nothing.",
	},
	{
		Code: GroupNameTaken, Severity: Warning, Kind: Gateway, Quiet: true,
		Line:    "a port and a group are named {name}; the group is left alone",
		Meaning: "Plans go by names.",
		Do:      "Rename the group.",
	},
	{
		Code: GroupShared, Severity: Info, Kind: Gateway, Quiet: true,
		Line:    "{count} routers share the group {name} and move together",
		Meaning: "A group has one host.",
		Do:      "Nothing.",
	},
	{
		Code: GroupUnused, Severity: Info, Kind: Gateway, Quiet: true,
		Line:    "no port uses the group {name}, which Neutron did not make; left alone",
		Meaning: "It hosts nothing.",
		Do:      "Remove it if it is not needed.",
	},
	{
		Code: ZoneHintsInvalid, Severity: Info, Kind: Gateway, Quiet: true,
		Line:    "the availability zone hints of {name} have empty items",
		Meaning: "These are left out.",
		Do:      "Nothing.",
	},
	{
		Code: RowNameInvalid, Severity: Warning, Kind: Gateway, Quiet: true,
		Line:    "{name}: control characters, or over {total} bytes, in a name; left alone",
		Meaning: "The row, or a candidate of it, has no name that a chassis or port can have.",
		Do:      "Find the client that wrote it.",
	},
	{
		Code: MappingsInvalid, Severity: Warning, Kind: Chassis, Quiet: true,
		Line:    "bridge mappings of {name} that are not NETWORK:BRIDGE: {count}",
		Meaning: "They connect it to nothing.",
		Do:      "Correct them on that machine.",
	},
	{
		Code: ChassisIncomplete, Severity: Warning, Kind: Chassis, Quiet: true,
		Line:    "chassis {name} has no row of {value}",
		Meaning: "What waits for all chassis may never end.",
		Do:      "If its machine is gone for good, delete its rows.",
	},
	{
		Code: ChassisUnknown, Severity: Info, Kind: Chassis, Quiet: true,
		Line:    "chassis {name} does not exist",
		Meaning: "It was to get a share of the backups.",
		Do:      "Nothing.",
	},
	{
		Code: NetworkUnknown, Severity: Warning, Kind: Gateway, Quiet: true,
		Line:    "no gateway is connected to a network {name}",
		Meaning: "The plan was limited to it.",
		Do:      "Name a network that status shows.",
	},
	{
		Code: JournalUnread, Severity: Warning, Kind: Gateway, Quiet: true,
		Line:    "row {name} of the journal can't be read",
		Meaning: "The row of DNS was written by another client, or by a later release.",
		Do:      "Nothing.",
	},
	{
		Code: PlanUnfinished, Severity: Warning, Kind: Gateway, Quiet: true,
		Line:    "plan {name}, {value}, has {count} gateways left: it runs, or was interrupted",
		Meaning: "Each batch of it is recorded.",
		Do:      "If it does not run, run it again.",
	},
	{
		Code: MemberUnowned, Severity: Warning, Kind: Member, Quiet: true,
		Line:    "{member} is down and is no unit's",
		Meaning: "As far as the agent knows: it can't ask Juju.",
		Do:      "Run cluster-status.",
	},
	{
		Code: GatewayStays, Severity: Error, Kind: Gateway,
		Line:    "no other chassis can host {name}",
		Meaning: "A drain leaves no gateway without a chassis that is eligible, responds and is not cordoned.",
		Do:      "Make one eligible.",
	},
	{
		Code: GatewayPinned, Severity: Error, Kind: Gateway,
		Line:    "{name} is pinned to {value}: OVN does not move it",
		Meaning: "One chassis hosts it by configuration.",
		Do:      "Pin it to another chassis with the printed command.",
	},
	{
		Code: CandidateStays, Severity: Error, Kind: Gateway,
		Line:    "{value} stays a candidate of {name}",
		Meaning: "Without it no other chassis would host the gateway, or one without its network.",
		Do:      "Drain it first.",
	},
	{
		Code: GatewayGone, Severity: Info, Kind: Gateway, Quiet: true,
		Line:    "{name} no longer exists",
		Meaning: "There is nothing to bring back.",
		Do:      "Nothing.",
	},
	{
		Code: GatewayNotRestored, Severity: Info, Kind: Gateway, Quiet: true,
		Line:    "{name} can't be as it was",
		Meaning: "A gateway goes back only to chassis that may host it now.",
		Do:      "Nothing.",
	},
	{
		Code: CandidatesChanged, Severity: Info, Kind: Gateway, Quiet: true,
		Line:    "the candidates of {name} have changed since",
		Meaning: "What another client has changed stays.",
		Do:      "Nothing.",
	},
	{
		Code: MovesUsedUp, Severity: Info, Kind: Gateway, Quiet: true,
		Line:    "{name} stays: max-moves={count} is used up",
		Meaning: "The plan was limited.",
		Do:      "Run it again.",
	},
	{
		Code: NewCandidateNeeded, Severity: Info, Kind: Gateway, Quiet: true,
		Line:    "{value}, which hosted {name}, is no candidate now",
		Meaning: "A gateway moves to candidates only.",
		Do:      "Allow new candidates.",
	},
	{
		Code: CordonKept, Severity: Info, Kind: Chassis, Quiet: true,
		Line:    "the cordon of {name} is left as it is",
		Meaning: "A layout brings back gateways, not cordons.",
		Do:      "Nothing.",
	},
	{
		Code: WouldInterrupt, Severity: Error, Kind: Gateway,
		Line:    "{count} gateways would be interrupted for about a second each",
		Meaning: "Nothing was changed.",
		Do:      "Confirm it.",
	},
}
