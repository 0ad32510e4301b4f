package document

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/backup"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
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

// fileFormat returns the format of a file after the words before; empty if it is unknown.
func fileFormat(before, version string) string {
	if version == "" {
		return ""
	}
	return before + " of Open vSwitch " + version
}

// Cluster returns the server's status as it was printed. It replaces the time of a member's last message, which means
// little on a follower, with the member's unit.
func Cluster(c observe.Cluster) string {
	if c.Condition != ovndb.Serving {
		return fmt.Sprintf("%s: %s", c.Database, c.ServerState.Text())
	}
	lines := strings.Split(strings.TrimSuffix(c.Status.Text, "\n"), "\n")
	members := slices.Index(lines, "Servers:") + 1
	for i, row := range c.Rows {
		line := &lines[members+i]
		start, rest, _ := strings.Cut(*line, " last msg ")
		_, end, _ := strings.Cut(rest, " ms ago")
		*line = start + end + " " + row.Label()
	}
	return strings.Join(lines, "\n")
}

// Backups renders a table of the backups in a directory, with their problems below it.
func Backups(dir string, all []backup.Listed, now time.Time) string {
	if len(all) == 0 {
		return "there are no backups in " + dir + "\n"
	}
	var problems strings.Builder
	rows := []string{"age\tsize\tunit\tovn\tnb cluster\tnb schema\tsb cluster\tsb schema\tloads\tpath"}
	for _, x := range all {
		copies := map[ovndb.Database]backup.Copy{}
		for _, c := range x.Databases {
			copies[c.Name] = c
		}
		age, size, loads := "", "", "yes"
		if !x.Taken.IsZero() {
			age, size = since(now.Sub(x.Taken)), bytes(x.Size)
		}
		if !x.Loads {
			loads = "no"
			fmt.Fprintf(&problems, "%s: %s\n", x.Path, x.Problem)
		}
		nb, sb := copies[ovndb.NB], copies[ovndb.SB]
		rows = append(rows, strings.Join([]string{
			age, size, x.Unit, x.OVN, nb.Cluster.Short(), nb.Schema, sb.Cluster.Short(), sb.Schema, loads, x.Path,
		}, "\t"))
	}
	return table(rows) + problems.String()
}

// since formats an age with its two largest units: 3d4h, 5m0s.
func since(d time.Duration) string {
	const day = 24 * time.Hour
	switch d = d.Round(time.Second); {
	case d >= day:
		return fmt.Sprintf("%dd%dh", d/day, d%day/time.Hour)
	case d >= time.Hour:
		return fmt.Sprintf("%dh%dm", d/time.Hour, d%time.Hour/time.Minute)
	}
	return d.String()
}

// bytes formats a size with its unit.
func bytes(n int64) string {
	size := float64(n)
	for _, unit := range []string{"B", "KiB", "MiB"} {
		switch {
		case size < 1024 && unit == "B":
			return fmt.Sprintf("%d B", n)
		case size < 1024:
			return fmt.Sprintf("%.1f %s", size, unit)
		}
		size /= 1024
	}
	return fmt.Sprintf("%.1f GiB", size)
}
