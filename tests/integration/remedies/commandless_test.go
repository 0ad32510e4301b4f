package remedies

import "github.com/ovn-central/ovn-central-operator/internal/finding"

// withoutCommand lists the codes that have no command to type, by the reason. What to do is a task, or the page of
// findings tells it.
var withoutCommand = map[string][]finding.Code{
	"an operator corrects a row, an option or a connection, which the line names": {
		finding.RowNameInvalid, finding.GroupNameTaken, finding.GroupShared, finding.GroupUnused,
		finding.ZoneHintsInvalid, finding.MappingsInvalid, finding.LocalnetMissing, finding.LocalnetUnmapped,
		finding.GatewayUnplugged, finding.GatewayPluggedTwice, finding.NetworksJoined,
		finding.CandidateUnknown, finding.ChassisIncomplete, finding.JournalUnread, finding.ExternalApart,
		finding.ExternalGatewayUnknown, finding.ExternalUnserved, finding.GatewayCutOff,
		finding.SingleCandidate, finding.MemberUnowned,
	},
	"a plan of gateways repairs it, or tells what it leaves as it is": {
		finding.CandidateRepeated, finding.CandidatesTied, finding.CandidatesIncomplete,
		finding.CandidatesChanged, finding.NewCandidateNeeded, finding.GatewayMisplaced, finding.GatewayStays,
		finding.GatewayGone, finding.GatewayNotRestored, finding.CordonKept, finding.StillCandidate,
		finding.PlanUnfinished,
	},
	"an operator does a task without Juju, or types the same command with other words or once more": {
		finding.ClusterLost, finding.FileMadeElsewhere, finding.TwoClusters, finding.OldClusterServed,
		finding.ServerFailed, finding.NotAMember, finding.MemberOfOther, finding.OtherRefused,
		finding.RemovalNotCommitted, finding.RecoveryNoCopy, finding.RejoinUnknown,
		finding.CharmVersionDiffers, finding.NodeResponds, finding.NodeOfUnit,
		finding.HoldDerived, finding.HoldUnknown, finding.NodeAmbiguous, finding.NodeUnknown,
		finding.NothingForced, finding.SilenceUnproved,
	},
	"it ends by itself, or once the databases or Juju answer": {
		finding.ChangedElsewhere, finding.NorthdBehind, finding.MachineUnknown, finding.MembersUnread,
		finding.MemberLeaves, finding.NodesUnread,
	},
}

// withoutRemedy lists the codes that end by themselves, or whose line is sufficient. The command for failed and
// postponed steps shows the log, and changes nothing.
var withoutRemedy = []finding.Code{
	finding.NoGatewayBound, finding.NoChassisResponds, finding.ExternalUngrouped, finding.ExternalRoutersSeveral,
	finding.NewHostSilent, finding.BindingMissing, finding.BindingsUnsettled, finding.GatewayWithoutCandidate,
	finding.GatewayWithoutRouter, finding.HostNotAllowed, finding.GatewayNetworkUnknown,
	finding.ChassisUnknown, finding.NetworkUnknown, finding.CandidateStays, finding.MovesUsedUp,
	finding.WouldInterrupt, finding.ReviewInvalid, finding.OperationsSinceReview, finding.PlanChanged,
	finding.RevisionMissing, finding.CordonsContended, finding.DrainUndone, finding.NodeInUse, finding.FewUpThen,
	finding.NodeCandidate, finding.PublishedDataInvalid, finding.ServerOfOtherCluster,
	finding.ServerRemoved, finding.ServerJoining, finding.ServerLeaving, finding.SchemaOlder,
	finding.ElectionTimerChanges, finding.CertificatesAwaited, finding.CertificateChanges, finding.NorthdDown,
	finding.StateUnknown, finding.StepFailed, finding.StepPostponed, finding.PackagesAwaited, finding.ClientPortsClosed,
	finding.ApplicationRemoved, finding.RestartDue, finding.UpgradeWaits, finding.AgentFailed,
	finding.FirewallFailed, finding.PolicyFailed, finding.DrainStalled, finding.ClusterElsewhere,
	finding.RecoveryNoCluster, finding.RecoveryDataUnusable, finding.RecoveryForceUnnamed, finding.RecoveryNameUnknown,
	finding.RecoveryOfGivenUp,
	finding.RecoveryNotStored, finding.RecoveryUnread, finding.RecoveryUnserved, finding.RecoveryMarkUnread,
	finding.RejoinNotNeeded, finding.RejoinNoCluster, finding.RejoinOldMember, finding.CopyGivenUp,
	finding.ClusterAwaited, finding.ClustersAwaited, finding.ClaimContested, finding.Electing, finding.PeersUnknown,
	finding.MajorityUnseen, finding.LeaveWaits, finding.SameAddress, finding.UnknownText,
	finding.NotPublished, finding.IdentityOutdated, finding.PublishedDamaged, finding.JujuUnread,
	finding.ChangeFailed, finding.IDReadAsNumber, finding.RemovalMayBeUndone, finding.RemovalMayFollow,
	finding.KickRefused, finding.FewWouldStay, finding.UpWithoutUnit,
}
