package finding

import (
	"github.com/ovn-central/ovn-central-operator/internal/command"
)

// Remedy ends a finding: it is a command, or a deed that an operator does by hand, or commands and then a deed.
type Remedy struct {
	// When is the condition under which the remedy applies; empty if it always does.
	When Condition
	// Command is the first command; the zero value if there is only a deed.
	Command command.Command
	Deed    Deed
	// Then are further commands, to be run in this order. The deed comes after them.
	Then []command.Command
	// Unit is the unit that the condition or the deed names; empty if it is an argument of the finding.
	Unit string
}

// Condition is the name of a condition, for programs.
type Condition string

// The conditions.
const (
	IfThisLasts    Condition = "IF_THIS_LASTS"
	IfItLastsThere Condition = "IF_THIS_LASTS_THERE"
	IfItRepeats    Condition = "IF_IT_REPEATS"
	BeforeHook     Condition = "BEFORE_ITS_NEXT_HOOK"
	IfLost         Condition = "IF_LOST"
	IfNoSpace      Condition = "IF_NO_SPACE"
	IfDiskFull     Condition = "IF_DISK_FULL"
	IfGone         Condition = "IF_GONE"
	IfOff          Condition = "IF_LOST_AND_OFF"
	UnlessReturns  Condition = "UNLESS_IT_RETURNS"
	IfQuorumLost   Condition = "IF_QUORUM_LOST"
	IfSinceLost    Condition = "IF_SINCE_MAY_BE_LOST"
	OnceActive     Condition = "ONCE_ALL_ACTIVE"
	OnceOthers     Condition = "ONCE_OTHERS_ACTIVE"
	OnceMachineOff Condition = "ONCE_MACHINE_OFF"
	WhenClients    Condition = "WHEN_CLIENTS_MAY_WAIT"
	IfCutOff       Condition = "IF_CUT_OFF"
	IfNoneLeads    Condition = "IF_NONE_LEADS"
	IfOthersUp     Condition = "IF_OTHERS_UP"
	IfHookSkipped  Condition = "IF_HOOK_SKIPPED"
	ToAskAnother   Condition = "TO_ASK_ANOTHER"
	ToSeeMembers   Condition = "TO_SEE_MEMBERS"
	ToSeeBackups   Condition = "TO_SEE_BACKUPS"
	ToRemove       Condition = "TO_REMOVE_THE_UNIT"
	ToKickAnyway   Condition = "TO_KICK_ANYWAY"
	ToLeaveBehind  Condition = "TO_LEAVE_BEHIND"
	ToTakeTheCopy  Condition = "TO_TAKE_THE_ONLY_COPY"
	ToWithdraw     Condition = "TO_WITHDRAW"
	ToRunInstead   Condition = "TO_RUN_THIS_INSTEAD"
	ToPutBack      Condition = "TO_PUT_THE_NODE_BACK"
	ToKeepEmpty    Condition = "TO_KEEP_THE_NODE_EMPTY"
)

// conditions are the texts of the conditions. They may have arguments of the finding, as a line does.
var conditions = map[Condition]string{
	IfThisLasts:    "if this lasts",
	IfItLastsThere: "if this lasts, on {value}",
	IfItRepeats:    "if it happens again",
	BeforeHook:     "before its next hook (within 5 minutes)",
	IfLost:         "if {unit} is lost for good",
	IfNoSpace:      "if there is no space to make",
	IfDiskFull:     "if the disk of {unit} is full",
	IfGone:         "if no unit shows it",
	IfOff:          "with {unit} lost for good and powered off",
	UnlessReturns:  "unless {unit} is to come back",
	IfQuorumLost:   "if its quorum is lost for good, too",
	OnceActive:     "once all units are active",
	OnceOthers:     "once all units but {unit} are active",
	IfSinceLost:    "if what was written since may be lost",
	OnceMachineOff: "once its machine is off",
	WhenClients:    "when clients may wait",
	IfCutOff:       "if {unit} knows a leader, this unit is cut off",
	IfNoneLeads:    "if no unit knows one, and the servers that are down are lost for good",
	IfOthersUp:     "if all other members are up",
	IfHookSkipped:  "if this hook is skipped",
	ToAskAnother:   "to see whether {unit} knows a leader",
	ToSeeMembers:   "to see the members",
	ToSeeBackups:   "to see all backups",
	ToRemove:       "to remove {unit} for good",
	ToKickAnyway:   "to kick it all the same",
	ToLeaveBehind:  "to remove the unit all the same, and leave its members behind",
	ToWithdraw:     "to withdraw it, so that all servers start again",
	ToRunInstead:   "to run this one instead",
	ToPutBack:      "to put {name} back instead",
	ToKeepEmpty:    "to keep {name} empty instead",
	ToTakeTheCopy:  "to remove the unit all the same, with the only copy (its file stays on the machine)",
}

// Deed is the text of a task that an operator does without Juju. It may have arguments of the finding.
type Deed string

// The deeds.
const (
	MakeSpace      Deed = "make space on the disk of {path}"
	MakeSpaceThere Deed = "make space there"
	MakeSpaceOn    Deed = "make space on the full disk of {unit}"
	KickLeftovers  Deed = "then kick its members: the status shows the command"
	MoveAway       Deed = "stop {service} and move {path} away"
	RestoreFile    Deed = "bring {path} back from a backup"
	StartMachine   Deed = "start the machine of {unit}"
	StartServer    Deed = "start the server of {unit}"
	PowerOff       Deed = "power off its machine"
	RestartNorthd  Deed = "restart the ovn-northd that hangs in the table of cluster-status"
	AwaitChange    Deed = "wait: {unit} is changing the membership"
	AwaitAccept    Deed = "wait: Juju's leader has yet to accept the recovery or restore on {unit}"
	AwaitElection  Deed = "wait: the leader is leaving, or an election is under way"
	AwaitIDs       Deed = "wait until the unit at {address} has published its IDs, then look again"
	AwaitRetry     Deed = "wait: Juju tries again by itself"
	AwaitRemoval   Deed = "wait: {unit} is being removed"
	AwaitLeave     Deed = "then the unit leaves by itself: Juju tries again"
	AwaitJoin      Deed = "then wait until another unit has joined: Juju tries again by itself"
	AwaitServer    Deed = "wait: its server had given up the database, and was restarted"
	AskAnother     Deed = "run the action on a unit whose server is a member"
	NameThere      Deed = "to kick it there, name it as {other}-identity"
	NameByID       Deed = "name one of them by its whole ID, as {other}-identity"
	SkipStopToo    Deed = "the hook stop checks the same, and may have to be skipped too"
	RunAgain       Deed = "run the same command again"
	FindOwner      Deed = "find out which unit {unit} belongs to"
	OpenPort       Deed = "open {value} of this unit's machine"
	OpenPorts      Deed = "open these ports of the machine of {unit}"
	DeployAgain    Deed = "deploy the application again"
	StopController Deed = "stop ovn-controller on the machine of {name}"
	// StartControllers and ReadLogsOfOVN end an outage of the gateways.
	StartControllers Deed = "start ovn-controller on the chassis; its log there shows whether it reaches SB"
	ReadLogsOfOVN    Deed = "see what the logs of ovn-northd and, on the chassis, of ovn-controller say"
	RemoveNodeInCMS  Deed = "remove the node in its CMS, which deletes its gateways: kubectl delete node; " +
		"with Neutron, stop ovn-controller and openstack network agent delete"
	ForgetSwitch  Deed = "take the physical switch {name} out of the VTEP database (vtep-ctl del-ps)"
	StopOldServer Deed = "stop the server at {address}"
	RemoveUnits   Deed = "remove the units of the wrong cluster"
	RunElsewhere  Deed = "run it on a unit that has a whole copy"
	RestoreHere   Deed = "restore that backup here, with {unit} in give-up"
	RestoreThere  Deed = "restore the backup on a unit that stays, or, if all of these are lost, on a new application"
	RestoreAnew   Deed = "deploy the application again, and restore the backup there"
	RepairServer  Deed = "repair the server of {unit}, then run the same command again"
	KickElsewhere Deed = "on another unit, run cluster-status and the kick that it prints"
	ResetChassis  Deed = "on every chassis: ovn-appctl -t ovn-controller sb-cluster-state-reset"
	RefreshAgain  Deed = "run the last juju refresh again, while the agent of {unit} runs"
	SyncNeutron   Deed = "with OpenStack: restart neutron-server and the metadata agents, " +
		"then run neutron-ovn-db-sync-util"
)

// Do returns a command without a condition.
func Do(c command.Command, then ...command.Command) Remedy { return Remedy{Command: c, Then: then} }

// If returns a command with a condition.
func If(when Condition, c command.Command, then ...command.Command) Remedy {
	return Remedy{When: when, Command: c, Then: then}
}

// ByHand returns a deed.
func ByHand(deed Deed) Remedy { return Remedy{Deed: deed} }

// For names a unit that is not an argument of the finding.
func (r Remedy) For(unit string) Remedy {
	r.Unit = unit
	return r
}

// Document is a finding for programs. Fields are only ever added.
type Document struct {
	Code     string           `json:"code" yaml:"code"`
	Severity string           `json:"severity" yaml:"severity"`
	Subject  string           `json:"subject" yaml:"subject"`
	Message  string           `json:"message" yaml:"message"`
	Since    string           `json:"since,omitempty" yaml:"since,omitempty"`
	Remedies []RemedyDocument `json:"remedies" yaml:"remedies"`
	Docs     string           `json:"docs" yaml:"docs"`
	// Units are other units that the finding names. Address is the address of a server.
	Units   []string `json:"units,omitempty" yaml:"units,omitempty"`
	Address string   `json:"address,omitempty" yaml:"address,omitempty"`
	// Causes are the findings that cause this one.
	Causes []Document `json:"causes,omitempty" yaml:"causes,omitempty"`
}

// RemedyDocument is one remedy. Condition is the name of the condition, When its text. Commands must be typed in this
// order; then Deed must be done by hand.
type RemedyDocument struct {
	Condition string   `json:"condition,omitempty" yaml:"condition,omitempty"`
	When      string   `json:"when,omitempty" yaml:"when,omitempty"`
	Commands  []string `json:"commands,omitempty" yaml:"commands,omitempty"`
	Deed      string   `json:"deed,omitempty" yaml:"deed,omitempty"`
}
