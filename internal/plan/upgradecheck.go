package plan

import (
	"fmt"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// UpgradeCandidate describes packages that are not installed yet.
type UpgradeCandidate struct {
	// Source is the value of the option for their source.
	Source string
	// Offered is the version of these packages. If it is unknown, Offered is empty, and Unknown is the reason.
	Offered ovndb.Version
	Unknown string
	// Schemas compares the served schema of each database with the one that these packages bring.
	Schemas map[ovndb.Database]ovndb.Schemas
	// Disk and Memory are the free space and memory of this machine, in bytes; 0 if unknown.
	Disk, Memory int64
	// Typed formats a command for typing.
	Typed func(command.Command) string
}

// UpgradeReport tells an operator what to know before an upgrade.
type UpgradeReport struct {
	Source    string            `json:"source" yaml:"source"`
	Installed string            `json:"installed" yaml:"installed"`
	Offered   string            `json:"offered" yaml:"offered"`
	Newer     bool              `json:"newer" yaml:"newer"`
	Databases []UpgradeDatabase `json:"databases" yaml:"databases"`
	// Units are the units that block the upgrade, each with its reason.
	Units []string `json:"units" yaml:"units"`
	// First lists what to do before, Unknown what could not be determined.
	First   []string `json:"first" yaml:"first"`
	Unknown []string `json:"unknown" yaml:"unknown"`
}

// UpgradeDatabase is the effect on one database.
type UpgradeDatabase struct {
	Name string `json:"name" yaml:"name"`
	// FileBytes is the size of this unit's file.
	FileBytes int64  `json:"file-bytes" yaml:"file-bytes"`
	Schema    string `json:"schema" yaml:"schema"`
	Brought   string `json:"brought-schema" yaml:"brought-schema"`
	// FileFormat is the format in which the installed packages write the file, BroughtFileFormat that of the offered
	// ones. A format is named by the version of Open vSwitch that introduced it ([fileFormat]).
	FileFormat        string `json:"file-format" yaml:"file-format"`
	BroughtFileFormat string `json:"brought-file-format" yaml:"brought-file-format"`
	// Converted reports whether the schema will change, once every unit runs the packages.
	Converted bool `json:"converted" yaml:"converted"`
	// The seconds that clients wait during the conversion, as the range measured for this size.
	LeastGapSeconds float64 `json:"least-gap-seconds,omitempty" yaml:"least-gap-seconds,omitempty"`
	MostGapSeconds  float64 `json:"most-gap-seconds,omitempty" yaml:"most-gap-seconds,omitempty"`
	// The present election timer and the one for the conversion, in seconds.
	TimerSeconds       float64 `json:"election-timer-seconds" yaml:"election-timer-seconds"`
	NeededTimerSeconds float64 `json:"needed-election-timer-seconds,omitempty" yaml:"needed-election-timer-seconds,omitempty"` //nolint:lll // a tag can't be wrapped
	// The disk and memory that the conversion needs on each unit, in bytes.
	NeededDiskBytes   int64 `json:"needed-disk-bytes,omitempty" yaml:"needed-disk-bytes,omitempty"`
	NeededMemoryBytes int64 `json:"needed-memory-bytes,omitempty" yaml:"needed-memory-bytes,omitempty"`
}

// The seconds for each MiB that clients waited during a conversion; docs/reference/speed.md has the runs.
const (
	leastGap, mostGap               = 0.25, 1.0
	leastGapSince32, mostGapSince32 = 0.02, 0.0625
)

// CheckUpgrade reports the effects of the packages, and what to do before. It refuses nothing.
func (s State) CheckUpgrade(u UpgradeCandidate) UpgradeReport {
	r := UpgradeReport{
		Source: u.Source, Installed: s.Packages.Version.String(), Offered: u.Offered.String(),
		Newer:     u.Unknown == "" && !u.Offered.Is(s.Packages.Version),
		Databases: []UpgradeDatabase{}, Units: s.blockingUnits(), First: []string{}, Unknown: []string{},
	}
	if u.Unknown != "" {
		r.Unknown = append(r.Unknown, finding.Reason{Code: finding.UpgradeOfferUnknown, Value: u.Unknown}.String())
	}
	converts := false
	var first []finding.Reason
	for _, db := range ovndb.Databases() {
		d := s.checkDatabase(db, u)
		converts = converts || d.Converted
		r.Databases = append(r.Databases, d)
		if d.Schema == "" {
			r.Unknown = append(r.Unknown, finding.Reason{Code: finding.UpgradeSchemaUnknown, Name: d.Name}.String())
		}
		first = append(first, s.beforeConversion(db, d, u)...)
	}
	if len(r.Units) > 0 {
		first = append(first, finding.Reason{Code: finding.FirstBringBack})
	}
	if r.Newer || u.Unknown != "" {
		first = append(first, finding.Reason{Code: finding.FirstBackUp, Value: u.Typed(s.action("backup"))})
	}
	if r.Newer && !s.NorthdHeld {
		first = append(first, finding.Reason{
			Code: finding.FirstHoldNorthd, Name: u.Typed(s.action("hold-northd")), Value: u.Typed(s.action("release-northd")),
		})
	}
	for _, what := range first {
		r.First = append(r.First, what.String())
	}
	return r
}

// blockingUnits returns the other units for which restarts or conversions wait.
func (s State) blockingUnits() []string {
	all := []string{}
	add := func(code finding.ReasonCode, unit, database string) {
		all = append(all, finding.Reason{Code: code, Name: unit, Value: database}.String())
	}
	here := s.Packages.Version
	for _, p := range s.Peers {
		switch {
		case p.Dying:
			add(finding.UpgradeUnitDying, p.Unit, "")
		case p.Data.Unread():
			add(finding.UpgradeUnitUnread, p.Unit, "")
		case len(p.Servers) == 0:
			add(finding.UpgradeUnitNew, p.Unit, "")
		case !s.hears(p):
			add(finding.UpgradeUnitDown, p.Unit, "")
		case slices.ContainsFunc(p.Running, func(v ovndb.Version) bool { return v != here }):
			add(finding.UpgradeUnitBehind, p.Unit, "")
		}
	}
	for _, db := range ovndb.Databases() {
		if x := s.Databases[db]; !x.MemberWithLeader() {
			add(finding.UpgradeServerUnfit, s.Unit, db.Short())
		} else if !x.Damage.IsZero() {
			add(finding.UpgradeFileLacks, s.Unit, db.Short())
		} else if !x.Inconsistent.IsZero() {
			add(finding.UpgradeDataDiffer, s.Unit, db.Short())
		}
	}
	if len(s.Pending) > 0 {
		add(finding.UpgradeRestartsDue, s.Unit, "")
	}
	return all
}

func (s State) checkDatabase(db ovndb.Database, u UpgradeCandidate) UpgradeDatabase {
	x, schema := s.Databases[db], u.Schemas[db]
	d := UpgradeDatabase{
		Name: db.Short(), FileBytes: x.Size, Schema: schema.Served, Brought: schema.Packages, Converted: schema.Older,
		TimerSeconds: x.Status.ElectionTimer.Seconds(), FileFormat: fileFormat(s.Packages.Version.OVS),
		BroughtFileFormat: fileFormat(u.Offered.OVS),
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

// fileFormat returns the format in which a version of Open vSwitch writes the file of a clustered database, named by
// the version that introduced it; empty if the version is unknown. Transactions are differences since 2.15;
// conversions of the schema have no data since 3.2 ("Changed format" in NEWS of Open vSwitch up to 3.7). Newer
// versions read older formats. Older versions can't read newer formats, and the format of 3.2 only if the file has a
// conversion.
func fileFormat(ovs string) string {
	switch {
	case atLeastVersion(ovs, 3, 2):
		return "3.2"
	case atLeastVersion(ovs, 2, 15):
		return "2.15"
	case atLeastVersion(ovs, 2, 9): // the first with clusters
		return "2.9"
	}
	return ""
}

// roundUp rounds up to whole seconds, at least one: a conversion of almost nothing took 0.7 s.
func roundUp(seconds float64) float64 { return max(1, float64(int64(seconds+0.999))) }

// beforeConversion returns what to do or know before a database is converted.
func (s State) beforeConversion(db ovndb.Database, d UpgradeDatabase, u UpgradeCandidate) (all []finding.Reason) {
	if !d.Converted {
		return nil
	}
	name := db.Short()
	if u.Disk > 0 && u.Disk < d.NeededDiskBytes {
		all = append(all, finding.Reason{
			Code: finding.FirstMakeSpace, Name: name, Count: int(d.NeededDiskBytes >> 20), Total: int(u.Disk >> 20),
		})
	}
	if u.Memory > 0 && u.Memory < d.NeededMemoryBytes {
		all = append(all, finding.Reason{
			Code: finding.FirstMemory, Name: name, Count: int(d.NeededMemoryBytes >> 20), Total: int(u.Memory >> 20),
		})
	}
	if d.FileBytes >= largeFile {
		all = append(all, finding.Reason{
			Code: finding.FirstCompact, Name: name, Value: s.Unit,
			Because: []finding.Reason{finding.Quote(s.Databases[db].control())},
		})
	}
	needed := time.Duration(d.NeededTimerSeconds) * time.Second
	switch {
	case needed >= longestConversionTimer:
		all = append(all, finding.Reason{Code: finding.FirstAwaitClients, Name: name})
	case d.TimerSeconds < d.NeededTimerSeconds:
		all = append(all, finding.Reason{
			Code: finding.FirstTimerRises, Name: name, Value: fmt.Sprint(d.TimerSeconds),
			Because: []finding.Reason{finding.Quote(fmt.Sprint(d.NeededTimerSeconds))},
		})
	}
	return all
}
