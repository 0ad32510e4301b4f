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
	ReviewInvalid           Code = "REVIEW_INVALID"
	OperationsSinceReview   Code = "OPERATIONS_SINCE_REVIEW"
	PlanChanged             Code = "PLAN_CHANGED"
	RevisionMissing         Code = "REVISION_MISSING"
)

var gatewayEntries = aboutGateways(
	entry(NoGatewayBound, Warning, Gateway, "no gateway is bound; ovn-controllers that respond: {count} of {total}"),
	entry(NoChassisResponds, Warning, Chassis, "none of {total} ovn-controllers responds: what they host may not work"),
	entry(GatewayUnbound, Warning, Gateway, "{name} is not bound to any chassis; expected {value}").alert(5*time.Minute),
	entry(GatewayMisplaced, Warning, Gateway, "{name} is bound to {other}; expected {value}"),
	entry(GatewayHostSilent, Warning, Gateway, "{name} is bound to {value}, whose ovn-controller does not respond"),
	entry(PinnedUnhosted, Warning, Gateway, "no chassis can host {name}, which is pinned to {value}"),
	entry(ExternalUnserved, Warning, Gateway, "no chassis serves the external ports of {name}").alert(5*time.Minute),
	entry(ExternalUngrouped, Warning, Gateway, "external port {name} has no HA_Chassis_Group: no chassis serves it"),
	entry(ExternalGatewayUnknown, Warning, Gateway, "{name} follows the gateway {value}, which is unknown"),
	entry(ExternalRoutersSeveral, Info, Gateway, "the external ports of {name} have several routers; they follow {value}"),
	entry(NewHostSilent, Warning, Chassis, "ovn-controller does not respond on {name}, to which gateways were moved"),
	entry(BindingMissing, Warning, Gateway, "{name} has no Port_Binding"),
	entry(BindingsUnsettled, Info, Gateway, "bound as expected, but not yet for {duration}"),
	entry(NorthdBehind, Warning, Northd, "ovn-northd has not followed yet: nb_cfg {count} of {total}"),
	entry(NoChassisMarked, Warning, Chassis, "no chassis has enable-chassis-as-gw"),
	entry(GatewayWithoutCandidate, Warning, Gateway, "{name} has no candidate"),
	entry(GatewayWithoutRouter, Warning, Gateway, "{name} has no candidate, and belongs to no router"),
	entry(GatewayOutsideGroup, Warning, Gateway, "{name} has no candidate, and is not in the group of its router {value}"),
	entry(SingleCandidate, Warning, Gateway, "{value} is the only candidate of {name}; eligible chassis: {count}"),
	entry(HostNotAllowed, Warning, Gateway, "{value} hosts {name}, and should not"),
	entry(CandidateInvalid, Warning, Gateway, "candidate {value} of {name} cannot host it"),
	entry(CandidateRepeated, Info, Gateway, "{name} lists the candidate {value} twice"),
	entry(CandidatesTied, Info, Gateway, "{value} and {other} have the same priority {count} for {name}"),
	entry(CandidatesTooMany, Warning, Gateway, "{name} has {count} candidates; Neutron keeps {total}"),
	entry(CandidatesIncomplete, Info, Gateway, "{name}: gateways with fewer than {total} candidates: {count}"),
	entry(CandidateMisnamed, Warning, Gateway, "Neutron can't read the row of the candidate {value} of {name}"),
	entry(CandidateUnknown, Warning, Chassis, "{name} is a candidate of gateways, and no chassis"),
	entry(CandidatesIgnored, Warning, Gateway, "OVN ignores the candidates of {name}: its router {value} is pinned"),
	entry(GatewayNetworkUnknown, Warning, Gateway, "{name} is connected to no provider network; left as it is"),
	entry(GatewayStoredTwice, Info, Gateway, "{name} has an HA_Chassis_Group and Gateway_Chassis"),
	entry(GroupNameTaken, Warning, Gateway, "a port and a group are named {name}; the group is left alone"),
	entry(GroupShared, Info, Gateway, "{count} routers share the group {name} and move together"),
	entry(GroupUnused, Info, Gateway, "no port uses the group {name}, which Neutron did not make; left alone"),
	entry(ZoneHintsInvalid, Info, Gateway, "the availability zone hints of {name} have empty items"),
	entry(RowNameInvalid, Warning, Gateway, "{name}: control characters, or over {total} bytes, in a name; left alone"),
	entry(MappingsInvalid, Warning, Chassis, "bridge mappings of {name} that are not NETWORK:BRIDGE: {count}"),
	entry(ChassisIncomplete, Warning, Chassis, "chassis {name} has no row of {value}"),
	entry(ChassisUnknown, Info, Chassis, "chassis {name} does not exist"),
	entry(NetworkUnknown, Warning, Gateway, "no gateway is connected to the network {name}"),
	entry(JournalUnread, Warning, Gateway, "row {name} of the journal can't be read"),
	entry(PlanUnfinished, Warning, Gateway, "plan {name}, {value}, runs or was interrupted; gateways left: {count}"),
	entry(MemberUnowned, Warning, Member, "{member} is down and is no unit's"),
	entry(GatewayStays, Error, Gateway, "no other chassis can host {name}"),
	entry(GatewayPinned, Error, Gateway, "{name} is pinned to {value}: OVN does not move it"),
	entry(CandidateStays, Error, Gateway, "{value} stays a candidate of {name}"),
	entry(GatewayGone, Info, Gateway, "{name} no longer exists"),
	entry(GatewayNotRestored, Info, Gateway, "{name} can't be as it was"),
	entry(CandidatesChanged, Info, Gateway, "the candidates of {name} have changed since"),
	entry(MovesUsedUp, Info, Gateway, "{name} stays: max-moves={count} is used up"),
	entry(NewCandidateNeeded, Info, Gateway, "{value}, which hosted {name}, is no candidate now"),
	entry(CordonKept, Info, Chassis, "the cordon of {name} is left as it is"),
	entry(WouldInterrupt, Error, Gateway, "gateways that this would interrupt for about a second: {count}"),
	entry(ReviewInvalid, Error, Gateway, "review-id {value} is not one that a dry run shows"),
	entry(OperationsSinceReview, Error, Gateway,
		"operations that have changed the layout since the plan was reviewed: {count}"),
	entry(PlanChanged, Error, Gateway, "the plan is another one now"),
	entry(RevisionMissing, Error, Gateway, "revision {value} was not found"),
)

// aboutGateways makes findings about gateways and chassis quiet. They don't concern the reporting unit, so its status
// line has only refusals.
func aboutGateways(entries ...Entry) []Entry {
	for i := range entries {
		entries[i].Quiet = entries[i].Severity < Waiting
	}
	return entries
}
