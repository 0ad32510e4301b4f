package status

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/unitname"
)

// A file is overgrown if its server should have compacted it long before: it does so at twice the size, from 10 MB on
// (ovsdb-server(1)). The values leave room for a busy server.
const (
	overgrownFactor = 4
	overgrownSize   = 64 << 20 // bytes
)

// Servers returns a line about this unit's server and its file for each database, and the findings about them.
func Servers(r observe.Report) (lines []string, all []finding.Finding) {
	for _, c := range r.Clusters {
		if c.Facts == nil {
			continue
		}
		all = append(all, serverFindings(r.Application, c)...)
		if text := serverLine(c.Facts); text != "" {
			lines = append(lines, c.Database.Short()+": "+text)
		}
	}
	return lines, all
}

func serverLine(f *observe.ServerFacts) string {
	var parts []string
	if v := f.Schemas; v != nil {
		switch {
		case v.Older:
			parts = append(parts, fmt.Sprintf("schema %s, older than the packages' %s", v.Served, v.Packages))
		case v.Newer:
			parts = append(parts, fmt.Sprintf("schema %s, newer than the packages' %s", v.Served, v.Packages))
		default:
			parts = append(parts, "schema "+v.Served+", the packages'")
		}
	}
	if f := f.Storage; f != nil {
		text := fmt.Sprintf("file %s, grown by %s since it was compacted", size(f.Size), size(f.Grown()))
		if !f.Written.IsZero() {
			text += " at " + f.Written.Format("2006-01-02 15:04 MST")
		}
		parts = append(parts, text)
	}
	if p := f.LongPolls; p != nil && p.Count > 0 {
		parts = append(parts, fmt.Sprintf("silent %d times for a second or more in the last hour, at most for %s", p.Count,
			p.Longest.Round(100*time.Millisecond)))
	}
	return strings.Join(parts, "; ")
}

func serverFindings(m observe.Application, c observe.Cluster) (all []finding.Finding) {
	f := c.Facts
	if v := f.Schemas; v != nil && v.Newer {
		all = append(all, finding.Of(finding.SchemaNewer, c.Database,
			finding.Args{Version: v.Served, Detail: "they expect " + v.Packages},
			finding.Do(command.OnMachine(m.Unit, "apt-cache", "policy", "ovn-central"))))
	}
	if s := f.Storage; s != nil && s.Size >= overgrownSize && s.Size >= overgrownFactor*s.Compacted {
		all = append(all, finding.Of(finding.FileOvergrown, c.Database,
			finding.Args{Value: size(s.Size), Detail: size(s.Compacted) + " after its last compaction"},
			finding.Do(command.OnMachine(m.Unit, "sudo", "ovs-appctl", "-t", f.Socket, "ovsdb-server/compact",
				string(c.Database)))))
	}
	if p, timer := f.LongPolls, c.Status.ElectionTimer; p != nil && timer > 0 && p.Longest >= timer {
		all = append(all, finding.Of(finding.ServerSilent, c.Database,
			finding.Args{Value: p.Longest.Round(100 * time.Millisecond).String(), Duration: timer},
			finding.If(finding.IfItRepeats, command.Client("config", unitname.Application(m.Unit),
				fmt.Sprintf("ovsdb-server-election-timer=%d", longerTimer(p.Longest)/time.Second)))))
	}
	return all
}

// maxElectionTimer is the option's range (maxElectionTimer of package plan).
const maxElectionTimer = 60 * time.Second

// longerTimer returns twice the time that the server was silent, within the option's range.
func longerTimer(silent time.Duration) time.Duration {
	seconds := time.Duration(math.Ceil(2 * silent.Seconds()))
	return min(seconds*time.Second, maxElectionTimer)
}

func size(bytes int64) string {
	switch {
	case bytes >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30))
	case bytes >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20))
	}
	return fmt.Sprintf("%.1f KiB", float64(bytes)/(1<<10))
}
