package document

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/backup"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// Backups renders a table of the backups in a directory, with their problems below it.
func Backups(dir string, all []backup.Listed, now time.Time) string {
	if len(all) == 0 {
		return "there are no backups in " + dir + "\n"
	}
	var b, problems strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "age\tsize\tunit\tovn\tnb cluster\tnb schema\tsb cluster\tsb schema\tloads\tpath")
	for _, x := range all {
		copies := map[ovndb.Database]backup.Copy{}
		for _, c := range x.Databases {
			copies[c.Name] = c
		}
		age, size, loads := "", "", "no"
		if !x.Taken.IsZero() {
			age, size = since(now.Sub(x.Taken)), bytes(x.Size)
		}
		if x.Loads {
			loads = "yes"
		} else {
			fmt.Fprintf(&problems, "%s: %s\n", x.Path, x.Problem)
		}
		nb, sb := copies[ovndb.NB], copies[ovndb.SB]
		fmt.Fprintln(table, strings.Join([]string{
			age, size, x.Unit, x.OVN, nb.Cluster.Short(), nb.Schema, sb.Cluster.Short(), sb.Schema, loads, x.Path,
		}, "\t"))
	}
	_ = table.Flush() // a strings.Builder does not fail
	return b.String() + problems.String()
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
	size, unit := float64(n), "B"
	for _, larger := range []string{"KiB", "MiB", "GiB"} {
		if size < 1024 {
			break
		}
		size, unit = size/1024, larger
	}
	if unit == "B" {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", size, unit)
}
