package plan

import (
	"fmt"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// UpgradeCandidate is what was found out about packages that are not installed yet.
type UpgradeCandidate struct {
	// Source is the value of the option that they would come from.
	Source string
	// Offered is their version; empty where it could not be found out, and Unknown says
	// why.
	Offered ovndb.Version
	Unknown string
	// Schemas are those of both databases.
	Schemas map[ovndb.Database]UpgradeSchema
	// Disk and Memory are what is free on this machine, in bytes; 0 where it is not known.
	Disk, Memory int64
	// Typed is a command as it is typed.
	Typed func(command.Command) string
}

// UpgradeSchema are the versions of a database's schema: what is served, and what the
// packages bring. Newer says that the packages' is.
type UpgradeSchema struct {
	Served, Brought string
	Newer           bool
}

// UpgradeReport is what there is to know before an upgrade.
type UpgradeReport struct {
	Source    string            `json:"source" yaml:"source"`
	Installed string            `json:"installed" yaml:"installed"`
	Offered   string            `json:"offered" yaml:"offered"`
	Newer     bool              `json:"newer" yaml:"newer"`
	Databases []UpgradeDatabase `json:"databases" yaml:"databases"`
	// Units are those that block it, each with what is the matter.
	Units []string `json:"units" yaml:"units"`
	// First is what is to be done before, Unknown what could not be found out.
	First   []string `json:"first" yaml:"first"`
	Unknown []string `json:"unknown" yaml:"unknown"`
}

// UpgradeDatabase is what becomes of one database.
type UpgradeDatabase struct {
	Name string `json:"name" yaml:"name"`
	// FileBytes is the size of this unit's file.
	FileBytes int64  `json:"file-bytes" yaml:"file-bytes"`
	Schema    string `json:"schema" yaml:"schema"`
	Brought   string `json:"brought-schema" yaml:"brought-schema"`
	// FileFormat is how the packages that are installed write the file, BroughtFileFormat how
	// those of the source do: the Open vSwitch that began to ([fileFormat]).
	FileFormat        string `json:"file-format" yaml:"file-format"`
	BroughtFileFormat string `json:"brought-file-format" yaml:"brought-file-format"`
	// Converted says that the schema will be changed, once every unit runs the packages.
	Converted bool `json:"converted" yaml:"converted"`
	// The seconds that clients wait meanwhile: from the least to the most that was
	// measured for this size.
	LeastGapSeconds float64 `json:"least-gap-seconds,omitempty" yaml:"least-gap-seconds,omitempty"`
	MostGapSeconds  float64 `json:"most-gap-seconds,omitempty" yaml:"most-gap-seconds,omitempty"`
	// The election timer in seconds as it is, and as the conversion needs it.
	TimerSeconds       float64 `json:"election-timer-seconds" yaml:"election-timer-seconds"`
	NeededTimerSeconds float64 `json:"needed-election-timer-seconds,omitempty" yaml:"needed-election-timer-seconds,omitempty"`
	// What it takes of the disk and of memory on each unit, in bytes.
	NeededDiskBytes   int64 `json:"needed-disk-bytes,omitempty" yaml:"needed-disk-bytes,omitempty"`
	NeededMemoryBytes int64 `json:"needed-memory-bytes,omitempty" yaml:"needed-memory-bytes,omitempty"`
}

// What a conversion takes next to the size of the file. The conversion itself was not
// measured: a copy and a load of 80 MiB on OVS 3.1 take 2.4 and 1.5 times the size in
// memory, and here both are at once; the log has all data once more until it is compacted.
const (
	upgradeMemoryFactor = 5
	upgradeDiskFactor   = 2
	upgradeSpare        = 64 << 20
	// largeFile is from when on a compaction is worth a command: below, the timer that
	// there is by default will do.
	largeFile = 8 << 20
)

// The seconds for each MiB that clients waited for a conversion; docs/reference/speed.md
// has the runs.
const (
	leastGap, mostGap               = 0.25, 1.0
	leastGapSince32, mostGapSince32 = 0.02, 0.0625
)

// CheckUpgrade says what the packages would bring, and what is to be done before. It
// refuses nothing.
func (s State) CheckUpgrade(u UpgradeCandidate) UpgradeReport {
	r := UpgradeReport{
		Source: u.Source, Installed: s.Packages.Version.String(), Offered: u.Offered.String(), Newer: u.Unknown == "" && !u.Offered.Is(s.Packages.Version),
		Databases: []UpgradeDatabase{}, Units: s.blockingUnits(), First: []string{}, Unknown: []string{},
	}
	if u.Unknown != "" {
		r.Unknown = append(r.Unknown, "what the source brings: "+u.Unknown)
	}
	converts := false
	for _, db := range ovndb.Databases() {
		d := s.checkDatabase(db, u)
		converts = converts || d.Converted
		r.Databases = append(r.Databases, d)
		if d.Schema == "" {
			r.Unknown = append(r.Unknown, d.Name+": which schema is served: this unit's server serves none; run it on another unit")
		}
		r.First = append(r.First, s.beforeConversion(db, d, u)...)
	}
	if len(r.Units) > 0 {
		r.First = append(r.First, "bring back or remove each unit that is named: restarts and schema conversions wait for it")
	}
	if r.Newer || u.Unknown != "" {
		r.First = append(r.First, "a backup: "+u.Typed(s.action("backup")))
	}
	if r.Newer && !s.NorthdHeld {
		r.First = append(r.First, "if chassis still run older packages: on every unit, before the upgrade: "+u.Typed(s.action("hold-northd"))+"; once the chassis are upgraded, on every unit: "+u.Typed(s.action("release-northd")))
	}
	return r
}

// blockingUnits are the other units for which restarts or conversions wait.
func (s State) blockingUnits() []string {
	all := []string{}
	here := s.Packages.Version
	for _, p := range s.Peers {
		switch {
		case p.Dying:
			all = append(all, p.Unit+" is being removed")
		case p.Data == Unread:
			all = append(all, p.Unit+": cannot read what it publishes")
		case len(p.Servers) == 0:
			all = append(all, p.Unit+" has not joined yet")
		case !s.hears(p):
			all = append(all, p.Unit+" is down, or cut off")
		case slices.ContainsFunc(p.Running, func(v ovndb.Version) bool { return v != here }):
			all = append(all, p.Unit+" does not run the packages installed here: an earlier upgrade is not finished")
		}
	}
	for _, db := range ovndb.Databases() {
		if x := s.Databases[db]; !x.MemberWithLeader() {
			all = append(all, fmt.Sprintf("%s: its server of %s is not a member, or knows no leader", s.Unit, db.Short()))
		} else if x.Damage != "" {
			all = append(all, fmt.Sprintf("%s: its file of %s lacks entries", s.Unit, db.Short()))
		} else if x.Inconsistent != "" {
			all = append(all, fmt.Sprintf("%s: its data of %s differ from the other members'", s.Unit, db.Short()))
		}
	}
	if len(s.Pending) > 0 {
		all = append(all, s.Unit+": restarts are due")
	}
	return all
}

func (s State) checkDatabase(db ovndb.Database, u UpgradeCandidate) UpgradeDatabase {
	x, schema := s.Databases[db], u.Schemas[db]
	d := UpgradeDatabase{
		Name: db.Short(), FileBytes: x.Size, Schema: schema.Served, Brought: schema.Brought, Converted: schema.Newer,
		TimerSeconds: x.Status.ElectionTimer.Seconds(), FileFormat: fileFormat(s.Packages.Version.OVS), BroughtFileFormat: fileFormat(u.Offered.OVS),
	}
	if !d.Converted {
		return d
	}
	mib := float64(x.Size) / (1 << 20)
	least, most := leastGap, mostGap
	if atLeastVersion(u.Offered.OVS, 3, 2) {
		least, most = leastGapSince32, mostGapSince32
	}
	d.LeastGapSeconds, d.MostGapSeconds = roundUp(mib*least), roundUp(mib*most)
	d.NeededTimerSeconds = ConversionTimer(x.Size, u.Offered.OVS).Seconds()
	d.NeededDiskBytes = conversionDisk(x.Size)
	d.NeededMemoryBytes = conversionMemory(x.Size)
	return d
}

// fileFormat is how ovsdb-server of a version of Open vSwitch writes the file of a clustered database:
// the version that began to write it so. Transactions are differences since 2.15, conversions
// of the schema have no data since 3.2 ("Changed format" in NEWS of Open vSwitch up to 3.7). Each reads
// what an older one has written, and no older one reads what a newer one has: of 3.2 not before
// there is a conversion in it. It is empty where the version is not known.
func fileFormat(ovs string) string {
	switch {
	case atLeastVersion(ovs, 3, 2):
		return "3.2"
	case atLeastVersion(ovs, 2, 15):
		return "2.15"
	case atLeastVersion(ovs, 2, 9): // which brought clusters
		return "2.9"
	}
	return ""
}

// roundUp is to whole seconds, and at least one: a conversion of next to nothing took 0.7 s.
func roundUp(seconds float64) float64 { return max(1, float64(int64(seconds+0.999))) }

// beforeConversion is what is to be done, or to be known, before a database is converted.
func (s State) beforeConversion(db ovndb.Database, d UpgradeDatabase, u UpgradeCandidate) (all []string) {
	if !d.Converted {
		return nil
	}
	name := db.Short()
	if u.Disk > 0 && u.Disk < d.NeededDiskBytes {
		all = append(all, fmt.Sprintf("%s: make space: its conversion may take %s of the disk, %s are free here", name, mebibytes(d.NeededDiskBytes), mebibytes(u.Disk)))
	}
	if u.Memory > 0 && u.Memory < d.NeededMemoryBytes {
		all = append(all, fmt.Sprintf("%s: its conversion may take %s of memory, %s are available here", name, mebibytes(d.NeededMemoryBytes), mebibytes(u.Memory)))
	}
	if d.FileBytes >= largeFile {
		all = append(all, fmt.Sprintf("%s: compact its file, on each unit: juju ssh %s sudo ovs-appctl -t %s ovsdb-server/compact", name, s.Unit, s.Databases[db].control()))
	}
	needed := time.Duration(d.NeededTimerSeconds) * time.Second
	switch {
	case needed >= longestConversionTimer:
		all = append(all, fmt.Sprintf("%s: 5 minutes may not be enough for its conversion; if so, the unit becomes blocked and shows the command to run when clients may wait", name))
	case d.TimerSeconds < d.NeededTimerSeconds:
		all = append(all, fmt.Sprintf("%s: the charm itself raises the election timer from %g to %g s for the conversion and lowers it afterwards; until then a dead leader is replaced later than usual", name, d.TimerSeconds, d.NeededTimerSeconds))
	}
	return all
}

func mebibytes(n int64) string { return fmt.Sprintf("%d MiB", n>>20) }
