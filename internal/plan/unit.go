package plan

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/unitname"
)

func (v *view) findFullDisk() finding.Finding {
	return v.find(finding.DiskFull, finding.Args{Value: v.Disk}, finding.ByHand(finding.MakeSpaceThere))
}

func (v *view) findPaused() finding.Finding {
	return v.find(finding.Paused, finding.Args{}, finding.Do(v.action("resume")))
}

// maxTarget limits how much of a target is shown, in characters: any client of the database may have written it.
const maxTarget = 60

func (v *view) findExposed() (all []finding.Finding) {
	for _, l := range v.x.WithoutTLS {
		remove := command.OnMachine(v.Unit, "sudo", "ovn-"+v.db.Short()+"ctl", "--no-leader-only",
			"remove", v.db.GlobalTable(), ".", "connections", l.UUID)
		args := finding.Args{Value: fmt.Sprintf("%.*q", maxTarget, l.Target)}
		all = append(all, v.find(finding.ListenerWithoutTLS, args, finding.Do(remove)))
	}
	return all
}

// findOptions reports the invalid options. The charm uses the defaults of those that only change the presentation.
func (v *view) findOptions() (all []finding.Finding) {
	for _, option := range slices.Sorted(maps.Keys(v.Invalid)) {
		f := finding.New(finding.OptionInvalid, finding.Subject{Name: option}, v.Invalid[option],
			finding.Do(command.Client("config", unitname.Application(v.Unit), "--reset", option)))
		if slices.Contains([]string{OptionExporter, OptionStatusFormat, OptionNagiosContext, OptionNagiosServiceGroups},
			option) {
			f = f.As(finding.Warning)
		}
		all = append(all, f)
	}
	return all
}

func (v *view) restartNext() Step {
	service := v.dueRestarts()[0]
	return Step{Kind: Restart, Service: service, Reason: v.Pending[service]}
}

func startOne(service ovndb.Service, why string) func(*view) Step {
	return func(*view) Step { return Step{Kind: Start, Services: []ovndb.Service{service}, Reason: why} }
}

func (v *view) setTimer(want time.Duration) Step {
	return Step{Kind: SetElectionTimer, Database: v.db, Timer: nextTimer(v.x.Status.ElectionTimer, want)}
}

func (v *view) findTimer() finding.Finding {
	want := fmt.Sprintf("%d ms", v.Settings.ElectionTimer.Milliseconds())
	return v.find(finding.ElectionTimerChanges, finding.Args{Duration: v.x.Status.ElectionTimer, Value: want})
}

// maxTimerFactor limits one step up; steps down are unlimited. Source: raft_unixctl_change_election_timer in
// ovsdb/raft.c.
const maxTimerFactor = 2

func nextTimer(now, want time.Duration) time.Duration { return min(want, maxTimerFactor*now) }

// AllSources returns a digest of both sources of packages, for comparison. It is a digest since a source may contain
// a password, and the value goes to the peers and to the log.
func (s Settings) AllSources() string {
	overlay := s.Overlay
	if overlay == "distro" {
		overlay = ""
	}
	sum := sha256.Sum256([]byte(cmp.Or(s.Source, "distro") + "\n" + overlay))
	return hex.EncodeToString(sum[:8])
}

// RestartOrder is the order in which a unit restarts its services: first those on which nothing depends.
func RestartOrder() []ovndb.Service {
	return []ovndb.Service{ovndb.Northd, ovndb.NorthboundServer, ovndb.SouthboundServer}
}

// dueRestarts returns the services with a pending restart, in that order.
func (s State) dueRestarts() []ovndb.Service {
	return slices.DeleteFunc(RestartOrder(), func(service ovndb.Service) bool { return s.Pending[service] == "" })
}

func (s State) pending() string {
	var all []string
	for _, service := range s.dueRestarts() {
		all = append(all, string(service)+" ("+s.Pending[service]+")")
	}
	return strings.Join(all, ", ")
}

// queued names the services whose restarts are deferred in the form of the Python charm, with the service that
// represents all of them (_determine_os_workload_status of charm-helpers).
func (s State) queued() string {
	all := s.dueRestarts()
	if len(all) == len(RestartOrder()) {
		all = append([]ovndb.Service{ovndb.Umbrella}, all...)
	}
	return ovndb.JoinServices(all)
}

// upgradesFirst returns the unit that should upgrade before this one: the next unit without the upgrade, ordered by
// the number of databases that it leads and then by its number. Units that see the same leaders find the same order,
// so one of them can always upgrade.
func (s State) upgradesFirst() string {
	type turn struct {
		unit string
		led  int
	}
	led := func(leads func(ovndb.Database) bool) (n int) {
		for _, db := range ovndb.Databases() {
			if leads(db) {
				n++
			}
		}
		return n
	}
	first := turn{s.Unit, led(func(db ovndb.Database) bool { return s.Databases[db].Status.Role == raft.Leader })}
	for _, p := range s.Peers {
		if p.Source == "" || p.Source == s.Settings.AllSources() || p.Dying || !s.hears(p) {
			continue
		}
		next := turn{p.Unit, led(func(db ovndb.Database) bool {
			return p.Servers[db] != "" && string(s.Databases[db].Status.Leader) == p.Servers[db].Short()
		})}
		if cmp.Or(next.led-first.led, unitname.Compare(next.unit, first.unit)) < 0 {
			first = next
		}
	}
	if first.unit == s.Unit {
		return ""
	}
	return first.unit
}

// SettledObservations is the number of observations that show whether a server's clients have settled.
const SettledObservations = 5

// idlePerBusy limits the clients that may stay busy, since they don't read or always receive something: one in so
// many.
const idlePerBusy = 20

// ClientsSettled reports whether the last observations show that a server's clients have connected and received their
// data: no client connected since the first observation, and in one of them almost nothing was in flight. If there
// are no clients, none has to wait during a restart.
//
// If a server stops, its clients connect to another at once, and stay there (reconnect_set_backoff_free_tries() in
// OVS's lib/reconnect.c): the next member sees the clients that the restart has moved.
func ClientsSettled(looks []ovndb.Clients) bool {
	if len(looks) == 0 {
		return false
	}
	if looks[len(looks)-1].Connected == 0 {
		return true
	}
	if len(looks) < SettledObservations {
		return false
	}
	looks = looks[len(looks)-SettledObservations:]
	idle := false
	for i, look := range looks {
		if i > 0 && look.Connected > looks[i-1].Connected {
			return false
		}
		idle = idle || look.Busy*idlePerBusy <= look.Connected
	}
	return idle
}

// A published count of clients is kept while it is about right, since each change runs a hook on all peers.
const (
	clientsSlack = 5
	clientsShare = 4
)

// AboutClients returns the count to publish. It is the previous one if the present one differs by few, or by less
// than a quarter.
func AboutClients(told, now int) int {
	if difference := max(told-now, now-told); difference <= clientsSlack || difference*clientsShare <= told {
		return told
	}
	return now
}
