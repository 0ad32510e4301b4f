package plan_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

func TestDecide_healthy_unit_has_no_step(t *testing.T) {
	t.Parallel()
	check(t, map[string]situation{
		"a member of three": {func(*plan.State) {}, ready("")},
		"the only unit": {func(s *plan.State) {
			s.Peers, s.Units = nil, 1
			set(s, serving(ovndb.NB, 0), ovndb.NB)
			set(s, serving(ovndb.SB, 0), ovndb.SB)
		}, ready("")},
		"unobserved_is_left_alone": {func(s *plan.State) {
			s.Defaults, s.Firewall, s.NorthdParams = "", "", ""
			edit(s, ovndb.NB, func(x *plan.Database) { x.Listeners, x.Schema = "", "" })
		}, ready("")},
	})
}

// dpkg was killed, or the disk was full, and the upgrade can't be finished now.
func TestDecide_interrupted_upgrade(t *testing.T) {
	t.Parallel()
	cutOff := func(unavailable bool, x plan.Database) func(s *plan.State) {
		return func(s *plan.State) {
			s.Packages.Installed, s.Packages.Unavailable = false, unavailable
			s.Packages.Source, s.Packages.Version = s.Settings.AllSources(), ovndb.Version{OVN: "23.03", OVS: "3.3"}
			if s.Packages.Source == "" {
				s.Packages.Source = "distro"
			}
			set(s, x, ovndb.NB)
		}
	}
	without := func(change func(*plan.State)) func(*plan.State) {
		return func(s *plan.State) {
			change(s)
			s.Invalid = map[string]string{plan.OptionSource: "option source: none"}
		}
	}
	down := plan.Database{Condition: ovndb.Down, Cluster: nbCluster}
	damaged := serving(ovndb.NB, 0)
	damaged.Damage = "it lacks entry 9"
	check(t, map[string]situation{
		"it is finished first": {cutOff(false, down), does("install")},
		"a server is down":     {cutOff(true, down), does("start ovn-ovsdb-server-nb (it is down, and the upgrade of the packages can't be finished now)")},
		"and the unit is paused": {func(s *plan.State) { cutOff(true, down)(s); s.Paused = true }, finds(
			"warning PAUSED -> ovn-central/0 resume")},
		"a file lacks entries": {cutOff(true, damaged), does("rewrite the file of nb (it lacks entry 9)",
			"error FILE_LACKS_ENTRIES nb Path=. Detail=it lacks entry 9 -> make space on the disk of {path} -> IF_NO_SPACE: add-unit ovn-central remove-unit ovn-central/0")},
		"and the disk is full": {func(s *plan.State) { cutOff(false, damaged)(s); s.Disk = "no space left" }, does("rewrite the file of nb (it lacks entry 9)",
			"error DISK_FULL Value=no space left -> make space there",
			"error FILE_LACKS_ENTRIES nb Path=. Detail=it lacks entry 9 -> make space on the disk of {path} -> IF_NO_SPACE: add-unit ovn-central remove-unit ovn-central/0")},
		// Dpkg needs none to finish what is unpacked.
		"its source can't be used": {without(cutOff(false, down)), does("install",
			"error OPTION_INVALID source Value=option source: none -> config ovn-central --reset source")},
		"and it can't be finished": {without(cutOff(true, down)), does("start ovn-ovsdb-server-nb (it is down, and the upgrade of the packages can't be finished now)",
			"error OPTION_INVALID source Value=option source: none -> config ovn-central --reset source")},
		"nothing was installed before": {func(s *plan.State) { cutOff(true, down)(s); s.Packages.Source = "" }, does("install")},
	})
}

func TestDecide_order_before_clusters(t *testing.T) {
	t.Parallel()
	check(t, map[string]situation{
		"leaders_data_malformed": {
			func(s *plan.State) { s.Problem = "the leader setting nb_cid is no ID" },
			ready("", "error PUBLISHED_DATA_INVALID Detail=the leader setting nb_cid is no ID"),
		},
		"a source that can't be used, and no packages": {
			func(s *plan.State) {
				s.Invalid = map[string]string{plan.OptionSource: "option source: no"}
				s.Packages = plan.Packages{}
			},
			ready("",
				"waiting PACKAGES_AWAITED",
				"error OPTION_INVALID source Value=option source: no -> config ovn-central --reset source"),
		},
		"a source that can't be used hinders no start": {
			func(s *plan.State) {
				s.Invalid, s.Settings.Source = map[string]string{plan.OptionSource: "option source: no"}, "no"
				s.Services[ovndb.Northd] = plan.ServiceState{}
			},
			ready("start ovn-northd (it was not running)",
				"info NORTHD_DOWN",
				"error OPTION_INVALID source Value=option source: no -> config ovn-central --reset source"),
		},
		"a source that can't be used is not upgraded from": {
			func(s *plan.State) {
				s.Invalid, s.Settings.Source = map[string]string{plan.OptionSource: "option source: no"}, "no"
			},
			ready("", "error OPTION_INVALID source Value=option source: no -> config ovn-central --reset source"),
		},
		"an election timer that can't be used stays as it is": {
			func(s *plan.State) {
				s.Invalid = map[string]string{plan.OptionElectionTimer: "option ovsdb-server-election-timer is 61; it must be 1 to 60, in seconds"}
				edit(s, ovndb.NB, func(x *plan.Database) { x.Status.ElectionTimer = 8 * time.Second })
			},
			ready("",
				"error OPTION_INVALID ovsdb-server-election-timer Value=option ovsdb-server-election-timer is 61; it must be 1 to 60, in seconds -> config ovn-central --reset ovsdb-server-election-timer"),
		},
		"presentation_options": {
			func(s *plan.State) {
				s.Invalid = map[string]string{plan.OptionStatusFormat: "option cluster-status-format is foo", plan.OptionExporter: "option ovn-exporter-channel is foo", plan.OptionNagiosContext: "a b"}
			},
			ready("",
				"warning OPTION_INVALID cluster-status-format Value=option cluster-status-format is foo -> config ovn-central --reset cluster-status-format",
				"warning OPTION_INVALID nagios_context Value=a b -> config ovn-central --reset nagios_context",
				"warning OPTION_INVALID ovn-exporter-channel Value=option ovn-exporter-channel is foo -> config ovn-central --reset ovn-exporter-channel"),
		},
		"no packages": {func(s *plan.State) { *s = plan.State{} }, does("install")},
		"an option that can't be used keeps no clusters from being created": {
			func(s *plan.State) {
				fresh(true, func(*plan.State) {})(s)
				s.Invalid = map[string]string{plan.OptionElectionTimer: "no number"}
			},
			does("create the cluster of nb with an election timer of 4000 ms",
				"error OPTION_INVALID ovsdb-server-election-timer Value=no number -> config ovn-central --reset ovsdb-server-election-timer"),
		},
		"no address": {
			func(s *plan.State) { s.Address = "" },
			finds("waiting ADDRESS_UNKNOWN -> exec --unit ovn-central/0 network-get ovsdb-peer"),
		},
		"other options for the services": {func(s *plan.State) { s.Defaults = plan.Drifted }, ready("write defaults")},
		"other options, with which they must be restarted": {
			func(s *plan.State) { s.Defaults = plan.NeedsRestart }, ready("write defaults"),
		},
		"other rules of the firewall": {func(s *plan.State) { s.Firewall = plan.Drifted }, ready("set the firewall")},
		"paused": {
			func(s *plan.State) {
				s.Paused = true
				set(s, plan.Database{Condition: ovndb.Down, Text: "the server is not running"}, ovndb.NB, ovndb.SB)
			},
			finds("warning PAUSED -> ovn-central/0 resume"),
		},
		"paused, and its certificate expires": {
			func(s *plan.State) {
				s.Paused = true
				s.Certificates.Used.NotAfter = noon.AddDate(0, 0, 7)
				s.Certificates.Issued = certificate("cert1", "A")
			},
			does("install the certificate (the certificate was issued again)",
				"warning CERTIFICATE_EXPIRES Time=2026-11-27 12:00:00 +0000 UTC -> vault/leader reissue-certificates",
				"warning PAUSED -> ovn-central/0 resume"),
		},
	})
}

func TestDecide_ready(t *testing.T) {
	t.Parallel()
	for _, db := range ovndb.Databases() {
		for name, change := range map[string]func(*plan.Database){
			"no leader":                     func(x *plan.Database) { x.Status.Leader = raft.UnknownRef },
			"a candidate":                   func(x *plan.Database) { x.Status.Role = raft.Candidate },
			"disconnected":                  func(x *plan.Database) { x.Status.State = raft.Disconnected },
			"joining":                       func(x *plan.Database) { x.Status.State = raft.JoiningCluster },
			"leaving":                       func(x *plan.Database) { x.Status.State = raft.LeavingCluster },
			"the client ports don't answer": func(x *plan.Database) { x.ClientsServed = false },
			"not served":                    func(x *plan.Database) { x.Condition = ovndb.Hung },
			"another cluster":               func(x *plan.Database) { x.Cluster = otherCluster },
			"no cluster yet":                func(x *plan.Database) { x.Cluster = "" },
		} {
			t.Run(db.Short()+": "+name, func(t *testing.T) {
				t.Parallel()
				s := well()
				edit(&s, db, change)
				if decide(s).ready {
					t.Error("it says that it is ready")
				}
			})
		}
	}
}

// P8: a failed step is "cannot STEP" in the status, and unchanged in the log: operators read both and know neither the
// kinds of steps nor how a cluster is made.
func TestStep_text(t *testing.T) {
	t.Parallel()
	for want, step := range map[string]plan.Step{
		"install the certificate":                                         {Kind: plan.InstallCertificate},
		"drop the CAs from before":                                        {Kind: plan.DropCAs},
		"create the cluster of nb with an election timer of 4000 ms":      {Kind: plan.StageCluster, Database: ovndb.NB, Timer: 4 * time.Second},
		"publish the clusters' IDs":                                       {Kind: plan.PublishClusters},
		"put in place the cluster of sb":                                  {Kind: plan.CommitCluster, Database: ovndb.SB},
		"configure the listeners of nb":                                   {Kind: plan.ConfigureListeners, Database: ovndb.NB},
		"convert the schema of sb at an election timer of 84000 ms":       {Kind: plan.ConvertSchema, Database: ovndb.SB, Timer: 84 * time.Second},
		"set the election timer of nb to 2000 ms":                         {Kind: plan.SetElectionTimer, Database: ovndb.NB, Timer: 2 * time.Second},
		"stop the server for the recovery of nb (asked for by an action)": {Kind: plan.StopServer, Database: ovndb.NB, Reason: "asked for by an action"},
	} {
		assert.Equal(t, want, step.String())
	}
}
