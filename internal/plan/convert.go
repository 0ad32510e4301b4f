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

// The election timer that a conversion needs. Until it is done every member is silent
// for some time, and one that is silent for longer than the timer loses the lead, or
// holds an election: then it begins anew, at full load, with the next leader.
//
// Measured with three servers on a busy machine of 2 cores: of OVS 3.1, 40, 80 and
// 160 MiB take 19, 44 and 134 s, all of which clients wait, and the leader is silent for
// up to 0.75 s for each MiB; at a timer of 1 s 20 MiB, and at 4 s 40 MiB, were not
// converted in 150 s. On an idle machine 80 MiB take 21 s. From OVS 3.2 on members get
// the schema alone and each converts its own copy: of 3.5, 160 MiB take 2.6 s at 4 s, and
// at 1 s 25 s with two elections.
const (
	// bytesPerSecond and bytesPerSecondSince32 are less than the slowest of these.
	bytesPerSecond        = 1 << 20
	bytesPerSecondSince32 = 16 << 20
	// leastConversionTimer is what was enough where the database is small.
	leastConversionTimer = 4 * time.Second
	// longestConversionTimer bounds for how long nothing takes the place of a leader that
	// dies meanwhile. ovsdb-server permits twice as much.
	longestConversionTimer = 5 * time.Minute
)

// ConversionTimer is the election timer that a conversion needs of a database whose file
// has so many bytes, served by that version of Open vSwitch; one that is not known counts
// as old. It is also about the longest time that clients wait.
func ConversionTimer(size int64, ovs string) time.Duration {
	rate := int64(bytesPerSecond)
	if atLeastVersion(ovs, 3, 2) {
		rate = bytesPerSecondSince32
	}
	seconds := min(max(size, 0)/rate, int64(longestConversionTimer/time.Second))
	return min(leastConversionTimer+time.Duration(seconds)*time.Second, longestConversionTimer)
}

// TrimsMemory says whether an ovsdb-server of that version of Open vSwitch gives unused
// memory back after a compaction without being told: since 3.0 (commit e773140 of Open
// vSwitch). A version that is not known counts as old.
func TrimsMemory(ovs string) bool { return atLeastVersion(ovs, 3, 0) }

func atLeastVersion(ovs string, major, minor int) bool {
	var x, y int
	if _, err := fmt.Sscanf(ovs, "%d.%d", &x, &y); err != nil {
		return false
	}
	return x > major || x == major && y >= minor
}

// planConversion brings a database to the schema of the packages, once every server of the
// application runs them: a server of before OVS 3.2 that gets a conversion of a
// newer one ends, and can't start on its file again. It says whether it has to do with
// the election timer: the leader raises it before, and it is the option's again
// when there is nothing to convert any more. So no note of it is needed, and a unit that
// is killed in between, or loses the lead, is followed by the next hook of any.
func (s State) planConversion(d *Decision, db ovndb.Database) (timer bool) {
	x := s.Databases[db]
	if x.Schema != Drifted {
		return false
	}
	needed := min(max(ConversionTimer(x.Size, x.Runs), maxTimerFactor*x.Tried), longestConversionTimer)
	now := x.Status.ElectionTimer
	switch late := s.runsAnother(); {
	case len(s.Pending) > 0:
		d.findIn(db, finding.SchemaOlder, finding.Args{Detail: "converted after the restarts"})
		return false
	case late != "":
		d.findIn(db, finding.SchemaOlder, finding.Args{Detail: late})
		return false
	case x.ConversionLacks() != "": // each member's own copy is converted
		d.findIn(db, finding.ConversionLacksRoom, finding.Args{Detail: "it may take " + x.ConversionLacks()},
			finding.If(finding.IfNoSpace, command.OnMachine(s.Unit, "sudo", "ovs-appctl", "-t", x.control(), "ovsdb-server/compact")))
		return false
	case !x.IsRaftLeader():
		d.findIn(db, finding.SchemaOlder, finding.Args{Detail: "the leader converts it"})
	case s.withoutRoom(db) != "":
		d.findIn(db, finding.SchemaOlder, finding.Args{Detail: "converted once " + s.withoutRoom(db) + " has room"})
		return false
	case x.Tried >= longestConversionTimer:
		d.findIn(db, finding.ConversionFailed, finding.Args{Duration: x.Tried},
			finding.If(finding.WhenClients, command.OnMachine(s.Unit, "sudo", "ovsdb-client", "convert", "unix:"+x.Socket, x.SchemaFile)))
		return false
	case now < needed && !s.usable(OptionElectionTimer):
		d.findIn(db, finding.SchemaOlder, finding.Args{Detail: "the conversion needs a valid " + OptionElectionTimer + ", since it raises the election timer"})
	case now < needed:
		d.findIn(db, finding.SchemaOlder, finding.Args{Detail: fmt.Sprintf("the election timer rises to %d ms to convert it", needed.Milliseconds())})
		if x.Status.ChangingTo == 0 {
			d.do(Step{Kind: SetElectionTimer, Database: db, Timer: nextTimer(now, needed)})
		}
	default:
		d.do(Step{Kind: ConvertSchema, Database: db, Timer: now, Reason: "every unit runs the packages that bring the new schema"})
	}
	return true
}

// conversionDisk and conversionMemory are what a conversion may take, in bytes.
func conversionDisk(size int64) int64   { return upgradeDiskFactor*size + upgradeSpare }
func conversionMemory(size int64) int64 { return upgradeMemoryFactor*size + upgradeSpare }

// withoutRoom is the first unit that says that its machine has no room for a conversion.
func (s State) withoutRoom(db ovndb.Database) string {
	for _, p := range s.Peers {
		if p.NoRoom[db] {
			return p.Unit
		}
	}
	return ""
}

// ConversionLacks says what this unit lacks for a conversion that is due; empty where nothing
// is known to be missing.
func (x Database) ConversionLacks() string {
	var all []string
	if x.Schema != Drifted {
		return ""
	}
	if need := conversionDisk(x.Size); x.FreeDisk > 0 && x.FreeDisk < need {
		all = append(all, fmt.Sprintf("%s of the disk, %s are free", mebibytes(need), mebibytes(x.FreeDisk)))
	}
	if need := conversionMemory(x.Size); x.FreeMemory > 0 && x.FreeMemory < need {
		all = append(all, fmt.Sprintf("%s of memory, %s are available", mebibytes(need), mebibytes(x.FreeMemory)))
	}
	return strings.Join(all, "; ")
}

// control is the socket over which the server is told what to do.
func (x Database) control() string { return strings.TrimSuffix(x.Socket, ".sock") + ".ctl" }

// runsAnother says what ends a conversion's wait for another unit; empty
// where every unit's services run what is installed here. Unlike [State.others] it
// counts each unit of the model, heard or not: one that is down comes back with the
// server that it had.
func (s State) runsAnother() string {
	here := s.Packages.Version
	for _, p := range s.Peers {
		if p.Data != Unread && len(p.Running) > 0 && !slices.ContainsFunc(p.Running, func(v ovndb.Version) bool { return v != here }) {
			continue
		}
		switch {
		case p.Dying:
			return fmt.Sprintf("converted once %s is removed", p.Unit)
		case p.Data == Unread:
			return fmt.Sprintf("converted once %s says what it runs", p.Unit)
		case len(p.Servers) == 0:
			return fmt.Sprintf("converted once %s has joined (if it can't, remove it)", p.Unit)
		case !s.hears(p):
			return fmt.Sprintf("start or remove %s, which is down (it must run %s)", p.Unit, here.OVN)
		case len(p.Running) == 0:
			return fmt.Sprintf("converted once %s says what it runs", p.Unit)
		}
		return fmt.Sprintf("converted once %s runs %s", p.Unit, here.OVN)
	}
	return ""
}

// outdated says whether newer packages may be had than are installed, so that a
// server which is down is not started with these: the others' databases may be too
// new for it. Where the packages can't be had, it is started all the same.
func (s State) outdated() bool {
	return s.Packages.Source != s.Settings.AllSources() && !s.Packages.Unavailable && s.usable(OptionSource, OptionOverlay)
}
