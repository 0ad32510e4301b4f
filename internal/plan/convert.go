package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// The election timer for a conversion. Every member is silent for some time until the conversion is done. A member
// that is silent for longer than the timer loses leadership, or starts an election: then the conversion starts again,
// at full load, with the next leader.
//
// Measured with three servers on a busy machine with 2 cores: with OVS 3.1, 40, 80 and 160 MiB take 19, 44 and 134 s,
// during which clients wait, and the leader is silent for up to 0.75 s per MiB; 20 MiB at a timer of 1 s, and 40 MiB at
// 4 s, were not converted in 150 s. On an idle machine 80 MiB take 21 s. Since OVS 3.2 members get only the schema and
// each converts its own copy: with 3.5, 160 MiB take 2.6 s at 4 s, and 25 s with two elections at 1 s.
const (
	// bytesPerSecond and bytesPerSecondSince32 are below the slowest of these measurements.
	bytesPerSecond        = 1 << 20
	bytesPerSecondSince32 = 16 << 20
	// leastConversionTimer sufficed for a small database.
	leastConversionTimer = 4 * time.Second
	// longestConversionTimer limits how long a leader that dies during the conversion is not replaced. ovsdb-server
	// permits twice as much.
	longestConversionTimer = 5 * time.Minute
)

// ConversionTimer returns the election timer for the conversion of a database whose file has size bytes, served by
// the given version of Open vSwitch; an unknown version counts as old. Clients wait for about that time at most.
func ConversionTimer(size int64, ovs string) time.Duration {
	rate := int64(bytesPerSecond)
	if atLeastVersion(ovs, 3, 2) {
		rate = bytesPerSecondSince32
	}
	seconds := min(max(size, 0)/rate, int64(longestConversionTimer/time.Second))
	return min(leastConversionTimer+time.Duration(seconds)*time.Second, longestConversionTimer)
}

// TrimsMemory reports whether an ovsdb-server of that version of Open vSwitch returns unused memory after a
// compaction by default. It does since 3.0 (commit e773140 of Open vSwitch). An unknown version counts as old.
func TrimsMemory(ovs string) bool { return atLeastVersion(ovs, 3, 0) }

func atLeastVersion(ovs string, major, minor int) bool {
	var x, y int
	if _, err := fmt.Sscanf(ovs, "%d.%d", &x, &y); err != nil {
		return false
	}
	return x > major || x == major && y >= minor
}

// hasOldSchema reports whether the database's schema is older than the packages'. The schema is converted once every
// server of the application runs the packages: a server from before OVS 3.2 that gets a conversion of a newer one
// exits, and can't start on its file again. The leader raises the election timer before the conversion, and restores
// it afterwards. If a unit is killed or loses leadership in between, any unit's next hook continues.
func (v *view) hasOldSchema() bool { return v.x.Schema == Drifted }

// converts reports whether a conversion controls the election timer: the leader converts, or waits for the timer.
func (v *view) converts() bool {
	if !v.hasOldSchema() || len(v.Pending) > 0 || !v.runsAnother().IsZero() || len(v.x.ConversionLacks()) > 0 {
		return false
	}
	return !v.x.IsRaftLeader() || v.withoutRoom(v.db) == "" && v.x.TriedTimer < longestConversionTimer
}

func (v *view) neededTimer() time.Duration {
	return min(max(ConversionTimer(v.x.Size, v.x.Runs), maxTimerFactor*v.x.TriedTimer), longestConversionTimer)
}

func (v *view) timerIsTooShort() bool {
	return v.hasOldSchema() && v.x.Status.ElectionTimer < v.neededTimer()
}

func (v *view) convert() Step {
	return Step{
		Kind: ConvertSchema, Database: v.db, Timer: v.x.Status.ElectionTimer,
		Reason: "every unit runs the packages that bring the new schema",
	}
}

func waits(until finding.Reason) func(*view) finding.Finding {
	return func(v *view) finding.Finding { return v.find(finding.SchemaOlder, until.Args()) }
}

func (v *view) findNoRoom() finding.Finding {
	compact := command.OnMachine(v.Unit, "sudo", "ovs-appctl", "-t", v.x.control(), "ovsdb-server/compact")
	lacks := finding.Reason{Code: finding.MayTake, Because: v.x.ConversionLacks()}
	return v.find(finding.ConversionLacksRoom, lacks.Args(),
		finding.If(finding.IfNoSpace, compact))
}

func (v *view) findNotConverted() finding.Finding {
	convert := command.OnMachine(v.Unit, "sudo", "ovsdb-client", "convert", "unix:"+v.x.Socket, v.x.SchemaFile)
	args := finding.Args{Duration: v.x.TriedTimer}
	return v.find(finding.ConversionFailed, args, finding.If(finding.WhenClients, convert))
}

// conversionDisk and conversionMemory return the needs of a conversion, in bytes.
func conversionDisk(size int64) int64   { return upgradeDiskFactor*size + upgradeSpare }
func conversionMemory(size int64) int64 { return upgradeMemoryFactor*size + upgradeSpare }

func (s State) withoutRoom(db ovndb.Database) string {
	return s.firstPeer(func(p Peer) bool { return p.NoRoom[db] })
}

// ConversionLacks returns what this unit lacks for a pending conversion; empty if nothing is known to be missing.
func (x Database) ConversionLacks() (all []finding.Reason) {
	if x.Schema != Drifted {
		return nil
	}
	lacks := func(code finding.ReasonCode, need, free int64) {
		all = append(all, finding.Reason{Code: code, Count: int(need >> 20), Total: int(free >> 20)})
	}
	if need := conversionDisk(x.Size); x.FreeDisk > 0 && x.FreeDisk < need {
		lacks(finding.DiskLacking, need, x.FreeDisk)
	}
	if need := conversionMemory(x.Size); x.FreeMemory > 0 && x.FreeMemory < need {
		lacks(finding.MemoryLacking, need, x.FreeMemory)
	}
	return all
}

func (x Database) control() string { return strings.TrimSuffix(x.Socket, ".sock") + ".ctl" }

// runsAnother returns the reason why a conversion waits for another unit; none if every unit's services run the
// installed version. A unit that is down counts, too: it returns with its old server.
func (s State) runsAnother() finding.Reason {
	here := s.Packages.Version
	for _, p := range s.Peers {
		if !p.Data.Unread() && len(p.Running) > 0 && !slices.ContainsFunc(p.Running,
			func(v ovndb.Version) bool { return v != here }) {
			continue
		}
		switch {
		case p.Dying:
			return finding.Reason{Code: finding.OnceRemoved, Name: p.Unit}
		case p.Data.Unread():
			return finding.Reason{Code: finding.OncePublished, Name: p.Unit}
		case len(p.Servers) == 0:
			return finding.Reason{Code: finding.OnceJoined, Name: p.Unit}
		case !s.hears(p):
			return finding.Reason{Code: finding.OnceUp, Name: p.Unit, Value: here.OVN}
		case len(p.Running) == 0:
			return finding.Reason{Code: finding.OncePublished, Name: p.Unit}
		}
		return finding.Reason{Code: finding.OnceRuns, Name: p.Unit, Value: here.OVN}
	}
	return finding.Reason{}
}

// outdated reports whether packages newer than the installed ones may be available. A stopped server is then started
// only if these are unavailable: the other units' databases may be too new for it.
func (s State) outdated() bool {
	return s.Packages.Source != s.Settings.AllSources() && !s.Packages.Unavailable && s.Usable(OptionSource, OptionOverlay)
}

// The needs of a conversion in relation to the file's size. The conversion itself was not measured: a copy and a load
// of 80 MiB with OVS 3.1 take 2.4 and 1.5 times the size in memory, and a conversion does both; the log has all data
// a second time until it is compacted.
const (
	upgradeMemoryFactor = 5
	upgradeDiskFactor   = 2
	upgradeSpare        = 64 << 20
	// largeFile is the smallest size at which a compaction before the conversion is worthwhile; below it, the default
	// timer suffices.
	largeFile = 8 << 20
)

// Mebibytes writes a number of bytes for people.
func Mebibytes(n int64) string { return fmt.Sprintf("%d MiB", n>>20) }

// timerDiffers reports whether the election timer must be set to the option's value. During a conversion it must not.
func (v *view) timerDiffers() bool {
	return v.x.Status.ElectionTimer != v.Settings.ElectionTimer && v.Usable(OptionElectionTimer) && !v.converts()
}
