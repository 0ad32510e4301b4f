package status

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/unitname"
)

// ServerReport is what is said of this unit's own servers.
type ServerReport struct {
	// Lines are one for each database that is served here; Warnings what an operator
	// should know, and Next the commands for it.
	Lines, Warnings, Next []string
}

// A file counts as overgrown where its server should have compacted it long before: it
// does so at twice the size, from 10 MB on (ovsdb-server(1)). Our own choice, with room
// for a server that is busy.
const (
	overgrownFactor = 4
	overgrownSize   = 64 << 20 // bytes
)

// Servers says how this unit's servers and their files are.
func Servers(r observe.Report) (s ServerReport) {
	for _, c := range r.Clusters {
		if c.Facts != nil {
			s.add(r.Application, c)
		}
	}
	return s
}

func (s *ServerReport) add(m observe.Application, c observe.Cluster) {
	name, f := c.Database.Short(), c.Facts
	application := unitname.Application(m.Unit)
	var parts []string
	if v := f.Schemas; v != nil {
		switch {
		case v.Older:
			parts = append(parts, fmt.Sprintf("schema %s, older than the packages' %s", v.Served, v.Packages))
			s.warn("juju status "+application, "%s: schema %s is served, the packages expect %s; the unit's status says what the conversion waits for", name, v.Served, v.Packages)
		case v.Newer:
			parts = append(parts, fmt.Sprintf("schema %s, newer than the packages' %s", v.Served, v.Packages))
			s.warn(fmt.Sprintf("juju ssh %s apt-cache policy ovn-central", m.Unit), "%s: schema %s is served, this unit's packages expect %s: they are older than another unit's", name, v.Served, v.Packages)
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
		if f.Size >= overgrownSize && f.Size >= overgrownFactor*f.Compacted {
			s.warn(fmt.Sprintf("juju ssh %s sudo ovs-appctl -t %s ovsdb-server/compact %s", m.Unit, c.Facts.Socket, c.Database),
				"%s: the file has grown to %s (%s after its last compaction): its server does not compact it", name, size(f.Size), size(f.Compacted))
		}
	}
	if p := f.LongPolls; p != nil && p.Count > 0 {
		parts = append(parts, fmt.Sprintf("silent %d times for a second or more in the last hour, at most for %s", p.Count, p.Longest.Round(100*time.Millisecond)))
		if timer := c.Status.ElectionTimer; timer > 0 && p.Longest >= timer {
			// It may have been a busy moment of the machine: whether the timer is to be longer is the operator's to say.
			s.Warnings = append(s.Warnings, fmt.Sprintf("%s: the server was silent for %s, and the election timer is %s: a leader that is silent for so long loses the leadership; if it happens again: juju config %s ovsdb-server-election-timer=%d",
				name, p.Longest.Round(100*time.Millisecond), timer, application, longerTimer(p.Longest)/time.Second))
		}
	}
	if len(parts) > 0 {
		s.Lines = append(s.Lines, name+": "+strings.Join(parts, "; "))
	}
}

func (s *ServerReport) warn(next, format string, args ...any) {
	s.Warnings = append(s.Warnings, fmt.Sprintf(format, args...))
	s.Next = append(s.Next, next)
}

// maxElectionTimer is the option's range (maxElectionTimer of package plan).
const maxElectionTimer = 60 * time.Second

// longerTimer is twice as long as the server was silent, as far as the option goes.
func longerTimer(silent time.Duration) time.Duration {
	seconds := time.Duration(math.Ceil(2 * silent.Seconds()))
	return min(seconds*time.Second, maxElectionTimer)
}

// size is in the unit that a person reads: KiB, MiB or GiB.
func size(bytes int64) string {
	switch {
	case bytes >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30))
	case bytes >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20))
	}
	return fmt.Sprintf("%.1f KiB", float64(bytes)/(1<<10))
}
