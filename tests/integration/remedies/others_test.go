package remedies

import "github.com/ovn-central/ovn-central-operator/internal/finding"

// typedElsewhere lists the codes whose printed command another test types on real servers or databases, by the name of
// the test.
var typedElsewhere = map[string][]finding.Code{
	"TestCandidates_problems_are_repaired": {
		finding.GatewayStoredTwice, finding.CandidateMisnamed,
	},
	"TestCandidates_too_many_are_shortened":                       {finding.CandidatesTooMany},
	"TestForms_unhosted_router_gets_group_like_others":            {finding.GatewayOutsideGroup},
	"TestPinned_by_Neutron_moves_with_its_group":                  {finding.PinnedAgainstGroup},
	"TestPinned_drain_names_gateway_and_printed_command_moves_it": {finding.GatewayPinned},
	"TestPinned_problems_are_found_and_repaired": {
		finding.CandidatesIgnored, finding.PinnedUnhosted,
	},
	"TestRebalance_names_gateways_of_dead_master_and_its_drain": {finding.GatewaysOnBackups},
	"TestRefusals_printed_commands_succeed": {
		finding.UnitInModel, finding.StopUnsafe, finding.RemovalUnsafe, finding.QuorumWouldBeLost,
		finding.MemberIsLive, finding.OwnMember, finding.SoleMember, finding.Unconfirmed,
	},
	"TestRefusals_recovery_is_completed_as_printed": {
		finding.RecoveryNotReported, finding.RecoveryPlanned, finding.RecoveryBegun, finding.RecoveryProved,
		finding.RecoveryDone,
	},
	"TestRefusals_wrong_names_print_what_to_look_at": {
		finding.MemberIDInvalid, finding.UnknownMember, finding.UnitUnknown, finding.ParameterInvalid,
	},
	"TestRemedies_of_nodes_are_typed": {
		finding.DrainBlocked, finding.DrainUnfinished, finding.NodeDrained, finding.NodeKept,
		finding.NodeUnconfirmed, finding.DecommissionFailed, finding.NodeIsVTEP,
	},
	"TestRemove_unused_group_keeps_node":                  {finding.NodeInUnusedGroup},
	"TestStatus_missing_candidate_is_found_in_every_form": {finding.CandidateInvalid},
	"TestStop_down_member_stays_until_spare":              {finding.ServerNeeded},
	"TestStop_only_copy_stays":                            {finding.OnlyCopy},
}

// parsed lists the codes whose printed commands are read by the definitions of the product and of Juju, and not typed,
// by the name of a test in which the finding appears: these need packages, sizes, delays or losses that no lab has. The
// test's package formats findings with package findingtest, which fails if a command can't be typed as it is printed.
var parsed = map[string][]finding.Code{
	"TestClearLabels_error_names_gateway":            {finding.NodeNotDrained},
	"TestClusterStatus_has_lease_orphans_and_clocks": {finding.ClockWrong},
	"TestClusters":                    {finding.WrongDatabase},
	"TestClusters_few_members_remedy": {finding.FewMembers},
	"TestConversion_waits_for_room":   {finding.ConversionLacksRoom},
	"TestDecide_every_condition": {
		finding.FileCutOff, finding.FileTooNew, finding.ServerStarting, finding.DataDiffer,
	},
	"TestDecide_machine": {finding.AddressUnknown},
	"TestDone":           {finding.RecoveryEnded, finding.RecoveryNotLed},
	"TestDrain_node_that_died_during_undrain":  {finding.NodeSilent},
	"TestDying_recovery":                       {finding.RecoveryHolds},
	"TestEnsure":                               {finding.BackupOverdue},
	"TestEvaluate_findings":                    {finding.GatewayUnbound},
	"TestJudge_copy_of_nonmember":              {finding.RecoveryNotStopped},
	"TestJudge_other_backup_than_made_cluster": {finding.RecoveryUnderWay},
	"TestKick_is_judged":                       {finding.MemberAmbiguous},
	"TestMixedCloud": {
		finding.GatewayHostSilent, finding.NoChassisMarked,
	},
	"TestNext_unpublished_names_dying_leader": {
		finding.RecoveryNotPublished, finding.RecoveryRunsElsewhere,
	},
	"TestNext_withdraws_for_returned_quorum": {
		finding.RecoveryQuorumReturned, finding.RecoveryHasQuorum,
	},
	"TestPlan_complete_only_with_every_majority":              {finding.RecoveryMayReturn},
	"TestProof_complete":                                      {finding.RecoveryNotRead},
	"TestPublish_needs_confirmed_cluster":                     {finding.RecoveryUnanswered},
	"TestR1_decommission_that_would_harm_clusters_is_refused": {finding.NodeNeeded},
	"TestR21_one_request_is_accepted":                         {finding.RecoveryNotAccepted},
	"TestR6_departure_needs_commit":                           {finding.MemberStays, finding.UnitStays},
	"TestR6_uncommitted_kick_stays_pending":                   {finding.RemovalNotProved},
	"TestR9_refused_stop_changes_nothing": {
		finding.ChangePending, finding.NoLeader, finding.SoleMemberLeaves,
	},
	"TestR9_stop_keeps_files_if_Juju_is_silent":   {finding.NewClusterUnplaced},
	"TestR9_stop_of_unreadable_server_is_refused": {finding.ServerUnreadable},
	"TestRaftLeader": {
		finding.ConversionFailed, finding.RolesNotEnforced,
	},
	"TestRefusals": {
		finding.RecoveryNewerData, finding.RecoveryCopyDamaged,
	},
	"TestRefuseDying":                  {finding.RecoveryDying},
	"TestRemove_error_deletes_nothing": {finding.NodeNotRemoved},
	"TestServers": {
		finding.FileOvergrown, finding.ServerSilent, finding.SchemaNewer,
	},
	"TestStatus_withdrawn_and_unread": {finding.RecoveryWithdrawn},
	"TestUndrain_concurrent_changes_keep_ranks": {
		finding.UndrainUnfinished, finding.UndrainUnproved,
	},
	"TestWays_leader_leaves": {finding.LeaderUnseen},
}
