package document

import (
	"fmt"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/plan"
)

// Upgrade renders the report on an upgrade.
func Upgrade(r plan.UpgradeReport) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("source:    %s", r.Source)
	line("installed: %s", r.Installed)
	switch {
	case r.Offered == "":
		line("offered:   not known")
	case !r.Newer:
		line("offered:   nothing newer")
	default:
		line("offered:   %s", r.Offered)
	}
	for _, d := range r.Databases {
		line("%s: %s", d.Name, schema(d))
	}
	list := func(title string, all []string) {
		if len(all) == 0 {
			return
		}
		line("%s:", title)
		for _, text := range all {
			line("- %s", text)
		}
	}
	list("units that block it", r.Units)
	list("first", r.First)
	list("not known", r.Unknown)
	return b.String()
}

func schema(d plan.UpgradeDatabase) string {
	if d.Schema == "" {
		return "not served here"
	}
	is := fmt.Sprintf("schema %s, file of %s%s, election timer %g s", d.Schema, plan.Mebibytes(d.FileBytes),
		fileFormat(" in the format", d.FileFormat), d.TimerSeconds)
	switch {
	case d.Brought == "":
		return is
	case !d.Converted:
		return is + "; not converted, the packages bring schema " + d.Brought +
			fileFormat(" and the file format", d.BroughtFileFormat)
	}
	after := ""
	if d.BroughtFileFormat != d.FileFormat && d.BroughtFileFormat != "" {
		after = fmt.Sprintf(", which no ovsdb-server before %s can read,", d.BroughtFileFormat)
	}
	return is + fmt.Sprintf("; converted to schema %s once every unit runs the packages: "+
		"clients wait for %g to %g s, at an election timer of %g s; it may take %s of the disk and %s of memory on each unit",
		d.Brought+fileFormat(" and the file format", d.BroughtFileFormat)+after, d.LeastGapSeconds, d.MostGapSeconds,
		d.NeededTimerSeconds, plan.Mebibytes(d.NeededDiskBytes), plan.Mebibytes(d.NeededMemoryBytes))
}

// fileFormat returns the format of a file after other words; empty if it is unknown.
func fileFormat(before, version string) string {
	if version == "" {
		return ""
	}
	return before + " of Open vSwitch " + version
}
