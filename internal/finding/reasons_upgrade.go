package finding

// Reasons why an upgrade waits, and what to know and do before it.
const (
	UpgradeUnitDying     ReasonCode = "UPGRADE_UNIT_DYING"
	UpgradeUnitUnread    ReasonCode = "UPGRADE_UNIT_UNREAD"
	UpgradeUnitNew       ReasonCode = "UPGRADE_UNIT_NEW"
	UpgradeUnitDown      ReasonCode = "UPGRADE_UNIT_DOWN"
	UpgradeUnitBehind    ReasonCode = "UPGRADE_UNIT_BEHIND"
	UpgradeServerUnfit   ReasonCode = "UPGRADE_SERVER_UNFIT"
	UpgradeFileLacks     ReasonCode = "UPGRADE_FILE_LACKS_ENTRIES"
	UpgradeDataDiffer    ReasonCode = "UPGRADE_DATA_DIFFER"
	UpgradeRestartsDue   ReasonCode = "UPGRADE_RESTARTS_DUE"
	UpgradeOfferUnknown  ReasonCode = "UPGRADE_OFFER_UNKNOWN"
	UpgradeSchemaUnknown ReasonCode = "UPGRADE_SCHEMA_UNKNOWN"
	FirstBringBack       ReasonCode = "FIRST_BRING_BACK"
	FirstBackUp          ReasonCode = "FIRST_BACK_UP"
	FirstHoldNorthd      ReasonCode = "FIRST_HOLD_NORTHD"
	FirstMakeSpace       ReasonCode = "FIRST_MAKE_SPACE"
	FirstMemory          ReasonCode = "FIRST_MEMORY"
	FirstCompact         ReasonCode = "FIRST_COMPACT"
	FirstAwaitClients    ReasonCode = "FIRST_AWAIT_CLIENTS"
	FirstTimerRises      ReasonCode = "FIRST_TIMER_RISES"
)

var upgradeReasons = map[ReasonCode]string{
	UpgradeUnitDying:     "{name} is being removed",
	UpgradeUnitUnread:    "{name}: cannot read what it publishes",
	UpgradeUnitNew:       "{name} has not joined yet",
	UpgradeUnitDown:      "{name} is down, or cut off",
	UpgradeUnitBehind:    "{name} does not run the packages installed here: an earlier upgrade is not finished",
	UpgradeServerUnfit:   "{name}: its server of {value} is not a member, or knows no leader",
	UpgradeFileLacks:     "{name}: its file of {value} lacks entries",
	UpgradeDataDiffer:    "{name}: its data of {value} differ from the other members'",
	UpgradeRestartsDue:   "{name}: restarts are due",
	UpgradeOfferUnknown:  "what the source brings: {value}",
	UpgradeSchemaUnknown: "{name}: which schema is served: this unit's server serves none; run it on another unit",
	FirstBringBack:       "bring back or remove each unit that is named: restarts and schema conversions wait for it",
	FirstBackUp:          "a backup: {value}",
	FirstHoldNorthd: "if chassis still run older packages: on every unit, before the upgrade: {name}; once the chassis " +
		"are upgraded, on every unit: {value}",
	FirstMakeSpace: "{name}: make space: its conversion may take {count} MiB of the disk, {total} MiB are free here",
	FirstMemory:    "{name}: its conversion may take {count} MiB of memory, {total} MiB are available here",
	FirstCompact: "{name}: compact its file, on each unit: juju ssh {value} " +
		"sudo ovs-appctl -t {list} ovsdb-server/compact",
	FirstAwaitClients: "{name}: 5 minutes may not be enough for its conversion; if so, the unit becomes blocked and " +
		"shows the command to run when clients may wait",
	FirstTimerRises: "{name}: the charm itself raises the election timer from {value} to {list} s for the conversion " +
		"and lowers it afterwards; until then a dead leader is replaced later than usual",
}
