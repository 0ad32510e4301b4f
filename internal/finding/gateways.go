package finding

import "time"

// Codes about gateways and chassis, their candidates, and plans.
const (
	NoGatewayBound          Code = "NO_GATEWAY_BOUND"
	NoChassisResponds       Code = "NO_CHASSIS_RESPONDS"
	GatewayUnbound          Code = "GATEWAY_UNBOUND"
	GatewayMisplaced        Code = "GATEWAY_MISPLACED"
	GatewayHostSilent       Code = "GATEWAY_HOST_SILENT"
	PinnedUnhosted          Code = "PINNED_UNHOSTED"
	PinnedAgainstGroup      Code = "PINNED_AGAINST_GROUP"
	ExternalUnserved        Code = "EXTERNAL_PORTS_UNSERVED"
	ExternalUngrouped       Code = "EXTERNAL_PORT_UNGROUPED"
	ExternalApart           Code = "EXTERNAL_PORTS_APART"
	GatewayCutOff           Code = "GATEWAY_CUT_OFF"
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
	LocalnetUnmapped        Code = "LOCALNET_UNMAPPED"
	LocalnetMissing         Code = "LOCALNET_MISSING"
	NetworksJoined          Code = "NETWORKS_JOINED"
	GatewayUnplugged        Code = "GATEWAY_UNPLUGGED"
	GatewayPluggedTwice     Code = "GATEWAY_PLUGGED_TWICE"
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
	GatewaysOnBackups       Code = "GATEWAYS_ON_BACKUPS"
	NewCandidateNeeded      Code = "NEW_CANDIDATE_NEEDED"
	CordonKept              Code = "CORDON_KEPT"
	WouldInterrupt          Code = "WOULD_INTERRUPT"
	ReviewInvalid           Code = "REVIEW_INVALID"
	OperationsSinceReview   Code = "OPERATIONS_SINCE_REVIEW"
	PlanChanged             Code = "PLAN_CHANGED"
	RevisionMissing         Code = "REVISION_MISSING"
)

var gatewayEntries = []Entry{
	aboutGateways(NoGatewayBound, Error, Gateway,
		"outage: no gateway is bound; ovn-controllers that respond: {count} of {total}",
		"No router reaches its provider network.",
		"See whether the ovn-controllers run and reach the Southbound database.").alert(5 * time.Minute),
	aboutGateways(NoChassisResponds, Error, Chassis,
		"outage: none of {total} ovn-controllers responds: what they host may not work",
		"No chassis follows the Southbound database.",
		"See whether ovn-northd works, and whether the chassis reach the Southbound database.").alert(5 * time.Minute),
	aboutGateways(GatewayUnbound, Warning, Gateway, "{name} is not bound to any chassis; expected {value}",
		"No chassis hosts it. That is normal for a second after a change.",
		"If it lasts, have the expected chassis compute everything again, which interrupts nothing.").alert(5 * time.Minute),
	aboutGateways(GatewayMisplaced, Warning, Gateway, "{name} is bound to {other}; expected {value}",
		"Another candidate is better.", "See whether the chassis reach each other."),
	aboutGateways(GatewayHostSilent, Warning, Gateway, "{name} is bound to {value}, whose ovn-controller does not respond",
		"It may not work, and no other chassis takes over while the tunnels of this one are up.",
		"Restart that ovn-controller, or drain the node.").alert(5 * time.Minute),
	aboutGateways(PinnedUnhosted, Warning, Gateway, "no chassis can host {name}, which is pinned to {value}",
		"OVN never moves what one chassis hosts by configuration. The option must name the chassis, not its host.",
		"Mend the chassis, or pin it to another one."),
	aboutGateways(PinnedAgainstGroup, Warning, Gateway,
		"{name} is pinned to {value}; the best member of its group is {other}",
		"Neutron pins it to {other} when the group changes next.", "Make both agree."),
	aboutGateways(ExternalUnserved, Warning, Gateway, "no chassis serves the external ports of {name}",
		"DHCP and ARP are not answered there.",
		"Run reschedule; if no chassis is eligible, connect one to the network.").alert(5 * time.Minute),
	aboutGateways(ExternalUngrouped, Warning, Gateway,
		"external port {name} has no HA_Chassis_Group: no chassis serves it",
		"DHCP and ARP are not answered there.", "Let its client give it a group."),
	aboutGateways(ExternalApart, Warning, Gateway,
		"external ports of {name} are on {other}, their router's gateway is on {value}",
		"Traffic between them and the router's provider network is lost.",
		"Run reschedule, or connect the gateway's chassis to their network."),
	aboutGateways(GatewayCutOff, Warning, Gateway,
		"{value} should host {name}, and lacks {other}, the network of ports behind it",
		"These ports reach no provider network.", "Run reschedule, or connect the chassis."),
	aboutGateways(ExternalGatewayUnknown, Warning, Gateway, "{name} follows the gateway {value}, which is unknown",
		"External ports work on the chassis of their router's gateway.", "Give the router a gateway."),
	aboutGateways(ExternalRoutersSeveral, Info, Gateway,
		"the external ports of {name} have several routers; they follow {value}",
		"They can be on the chassis of one gateway only.", ""),
	aboutGateways(NewHostSilent, Warning, Chassis,
		"ovn-controller does not respond on {name}, to which gateways were moved",
		"The gateways may not work there.", "Restart it, or revert the plan."),
	aboutGateways(BindingMissing, Warning, Gateway, "{name} has no Port_Binding",
		"It is to be created in the Southbound database by ovn-northd.", "See what the log of ovn-northd says."),
	aboutGateways(BindingsUnsettled, Info, Gateway, "bound as expected, but not yet for {duration}",
		"Gateways bounce while chassis don't hear each other yet.", "Look again."),
	aboutGateways(NorthdBehind, Warning, Northd, "ovn-northd has not followed yet: nb_cfg {count} of {total}",
		"Until it has, which chassis respond is not known.", "If it lasts, see what its log says."),
	aboutGateways(NoChassisMarked, Warning, Chassis, "no chassis has enable-chassis-as-gw",
		"Neutron knows chassis for gateways by it.", "Mark them."),
	aboutGateways(GatewayWithoutCandidate, Warning, Gateway, "{name} has no candidate",
		"No chassis may host it.",
		"Run reschedule; if no chassis is eligible, docs/reference/gateway-hosts.md says why."),
	aboutGateways(GatewayWithoutRouter, Warning, Gateway, "{name} has no candidate, and belongs to no router",
		"A port is left of a router.", "Remove it."),
	aboutGateways(GatewayOutsideGroup, Warning, Gateway,
		"{name} has no candidate, and is not in the group of its router {value}",
		"No chassis hosts it.", "Give it the group."),
	aboutGateways(SingleCandidate, Warning, Gateway, "{value} is the only candidate of {name}; eligible chassis: {count}",
		"If that chassis fails, no other one takes over.", "Run reschedule, or make another chassis eligible."),
	aboutGateways(HostNotAllowed, Warning, Gateway, "{value} hosts {name}, and should not",
		"The rules of its owner don't allow that chassis.",
		"Run reschedule. It stays while no chassis that should host it responds."),
	aboutGateways(CandidateInvalid, Warning, Gateway, "candidate {value} of {name} cannot host it",
		"It would not take over.",
		"Run reschedule, or what is printed."),
	aboutGateways(CandidateRepeated, Info, Gateway, "{name} lists the candidate {value} twice",
		"The better rank counts.", "Run reschedule, which drops the other."),
	aboutGateways(CandidatesTied, Info, Gateway, "{value} and {other} have the same priority {count} for {name}",
		"OVN takes the larger name.", "Run reschedule, which keeps the order."),
	aboutGateways(CandidatesTooMany, Warning, Gateway, "{name} has {count} candidates; Neutron keeps {total}",
		"With more, OVN watches more tunnels.", "Drop the last ones; reschedule leaves them."),
	aboutGateways(CandidatesIncomplete, Info, Gateway, "{name}: gateways with fewer than {total} candidates: {count}",
		"Chassis that could be candidates take nothing new now.", "Run reschedule once they do."),
	aboutGateways(CandidateMisnamed, Warning, Gateway, "Neutron can't read the row of the candidate {value} of {name}",
		"Neutron goes by the names of rows.", "Rename the row."),
	aboutGateways(CandidateUnknown, Warning, Chassis, "{name} is a candidate of gateways, and no chassis",
		"Its machine is gone, or never came.", "Run reschedule if it does not come back."),
	aboutGateways(CandidatesIgnored, Warning, Gateway,
		"OVN ignores the candidates of {name}: its router {value} is pinned",
		"The log of ovn-northd has a bad configuration.", "Remove the candidates, or what pins it."),
	aboutGateways(GatewayNetworkUnknown, Warning, Gateway, "{name} is connected to no provider network; left as it is",
		"A drain moves it only to another of its candidates.", ""),
	aboutGateways(LocalnetUnmapped, Warning, Gateway, "no chassis maps the network {value} of localnet port {name}",
		"Gateways on its switch reach no provider network.",
		"Set its network_name to one in ovn-bridge-mappings of chassis."),
	aboutGateways(LocalnetMissing, Warning, Gateway, "the switch {name} has no localnet port",
		"Its gateways and external ports reach no provider network.", "Add it."),
	aboutGateways(GatewayUnplugged, Warning, Gateway, "{name} is connected to no switch",
		"No switch port has it as router-port.", "Repair the port."),
	aboutGateways(GatewayPluggedTwice, Warning, Gateway, "switch ports that have {name} as router-port: {count}",
		"OVN connects it to one of them.", "Delete the others."),
	aboutGateways(NetworksJoined, Warning, Gateway,
		"chassis that join the networks {value} of the switch {name}: {count}",
		"Broadcasts pass from one to the other.", "Remove the mapping, or the localnet port, that is not needed."),
	aboutGateways(GatewayStoredTwice, Info, Gateway, "{name} has an HA_Chassis_Group and Gateway_Chassis",
		"OVN ignores the latter.", "Remove the latter."),
	aboutGateways(GroupNameTaken, Warning, Gateway, "a port and a group are named {name}; the group is left alone",
		"Plans find groups by their names.", "Rename the group."),
	aboutGateways(GroupShared, Info, Gateway, "{count} routers share the group {name} and move together",
		"A group has one host.", ""),
	aboutGateways(GroupUnused, Info, Gateway, "no port uses the group {name}, which Neutron did not make; left alone",
		"It hosts nothing.", "Remove it if it is not needed."),
	aboutGateways(ZoneHintsInvalid, Info, Gateway, "the availability zone hints of {name} have empty items",
		"These are left out.", ""),
	aboutGateways(RowNameInvalid, Warning, Gateway,
		"{name}: control characters, or over {total} bytes, in a name; left alone",
		"The row, or a candidate of it, has no name that a chassis or port can have.",
		"Find the client that wrote it."),
	aboutGateways(MappingsInvalid, Warning, Chassis, "bridge mappings of {name} that ovn-controller ignores: {count}",
		"It reads no further than the first that is not NETWORK:BRIDGE.", "Correct them on that machine."),
	aboutGateways(ChassisIncomplete, Warning, Chassis, "chassis {name} has no row of {value}",
		"Without Chassis_Private it never responded; without Chassis, waits for all chassis never end.",
		"If its machine is gone for good, remove the node."),
	aboutGateways(ChassisUnknown, Info, Chassis, "chassis {name} does not exist",
		"It was to get a share of the backups.", ""),
	aboutGateways(NetworkUnknown, Warning, Gateway, "no gateway is connected to the network {name}",
		"The plan was limited to it.", "Name a network that status shows."),
	aboutGateways(JournalUnread, Warning, Gateway, "row {name} of the journal can't be read",
		"The row of DNS was written by another client, or by a later release.", ""),
	aboutGateways(PlanUnfinished, Warning, Gateway,
		"plan {name}, {value}, runs or was interrupted; gateways left: {count}",
		"Each batch of it is recorded.", "If it does not run, run it again."),
	aboutGateways(MemberUnowned, Warning, Member, "{member} is down and is no unit's",
		"As far as the agent knows: it can't ask Juju.", "Run cluster-status."),
	aboutGateways(GatewayStays, Error, Gateway, "no other chassis can host {name}",
		"A drain leaves no gateway without a chassis that is eligible, responds and is not cordoned.",
		"Make one eligible."),
	aboutGateways(GatewayPinned, Error, Gateway, "{name} is pinned to {value}: OVN does not move it",
		"One chassis hosts it by configuration.", "Pin it to another chassis, or remove its node, as printed."),
	aboutGateways(CandidateStays, Error, Gateway, "{value} stays a candidate of {name}",
		"Without it no other chassis would host the gateway, or one without its network.", "Drain it first."),
	aboutGateways(GatewayGone, Info, Gateway, "{name} no longer exists", "There is nothing to bring back.", ""),
	aboutGateways(GatewayNotRestored, Info, Gateway, "{name} can't be as it was",
		"A gateway goes back only to chassis that may host it now.", ""),
	aboutGateways(CandidatesChanged, Info, Gateway, "the candidates of {name} have changed since",
		"What another client has changed stays.", ""),
	aboutGateways(MovesUsedUp, Info, Gateway, "{name} stays: max-moves={count} is used up",
		"The plan was limited.", "Run it again."),
	aboutGateways(GatewaysOnBackups, Info, Chassis, "{name} does not respond; gateways that stay on backups: {count}",
		"A move would interrupt them and relieve no chassis.", "Drain the node, which interrupts nothing."),
	aboutGateways(NewCandidateNeeded, Info, Gateway, "{value}, which hosted {name}, is no candidate now",
		"A gateway moves to candidates only.", "Allow new candidates."),
	aboutGateways(CordonKept, Info, Chassis, "the cordon of {name} stays",
		"A layout brings back gateways, not cordons.", ""),
	aboutGateways(WouldInterrupt, Error, Gateway, "gateways that this would interrupt for about a second: {count}",
		"Nothing was changed.", "Confirm it."),
	aboutGateways(ReviewInvalid, Error, Gateway, "no dry run shows the review-id {value}",
		"Nothing was changed.", "Review the plan with a dry run."),
	aboutGateways(OperationsSinceReview, Error, Gateway,
		"operations that have changed the layout since the plan was reviewed: {count}",
		"Nothing was changed.", "Review the plan again with a dry run, or allow intermediate commits."),
	aboutGateways(PlanChanged, Error, Gateway, "the plan is another one now",
		"Another client, such as Neutron, has changed the layout since, or chassis or ports have changed. Nothing was "+
			"changed.", "Review the plan again with a dry run, or allow intermediate commits."),
	aboutGateways(RevisionMissing, Error, Gateway, "revision {value} was not found",
		"The journal keeps the layouts of the last operations alone.", "List the revisions."),
}

// aboutGateways returns an entry about gateways or chassis. These don't concern the reporting unit, so its status
// line only shows refusals.
func aboutGateways(code Code, severity Severity, kind Kind, line, meaning, do string) Entry {
	e := entry(code, severity, kind, line, meaning, do)
	e.Quiet = severity < Waiting
	return e
}
