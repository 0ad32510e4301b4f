package plan_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/goldentest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
)

// randomStates calls a function with states of a fixed seed.
func randomStates(visit func(plan.State)) {
	r := rand.New(rand.NewPCG(7, 7))
	for range 25000 {
		visit(randomState(r))
	}
}

// For each rule there is a state in which it applies, after all rules that may end the walk or decide about the same
// subject; and a state in which its step is the first.
func TestRules_each_applies(t *testing.T) {
	t.Parallel()
	applies, decides := map[string]bool{}, map[string]bool{}
	randomStates(func(s plan.State) {
		d := plan.Decide(s)
		decides[d.By] = true
		for _, name := range d.Rules {
			applies[name] = true
		}
	})
	all, steps := plan.Rules()
	for i, name := range all {
		assert.NotContains(t, all[:i], name, "two rules have a name")
		assert.True(t, applies[name], "rule %q never applies", name)
	}
	for _, name := range steps {
		assert.True(t, decides[name], "the step of rule %q is never the next", name)
	}
}

// A rule either precedes the next rule of its subject on purpose, or never holds at the same time.
func TestRules_overlaps_are_declared(t *testing.T) {
	t.Parallel()
	overlap := map[string]bool{}
	randomStates(func(s plan.State) {
		for _, name := range plan.Overlapping(s) {
			overlap[name] = true
		}
	})
	declared := plan.Outranking()
	for name := range overlap {
		assert.Contains(t, declared, name, "the rule and the next one of its subject can both hold")
	}
	for _, name := range declared {
		assert.True(t, overlap[name], "rule %q and the next one of its subject never hold at once", name)
	}
}

// Nothing keeps a unit from rewriting a file that lacks entries, or from reporting a file that can't be used.
func TestRules_data_come_first(t *testing.T) {
	t.Parallel()
	randomStates(func(s plan.State) {
		d := plan.Decide(s)
		has := func(db ovndb.Database, code finding.Code) bool {
			return slices.ContainsFunc(d.Findings, func(f finding.Finding) bool {
				return f.Code == code && slices.Contains(f.Subject.Databases, db)
			})
		}
		assert.Equal(t, s.Disk != "", finding.Has(d.Findings, finding.DiskFull), "by rules %q", d.Rules)
		for _, db := range ovndb.Databases() {
			x := s.Databases[db]
			given := slices.Contains(s.Clusters.Superseded[db], x.Cluster)
			lacks := x.Condition == ovndb.Serving && !x.Damage.IsZero() && !given
			assert.Equal(t, lacks, has(db, finding.FileLacksEntries), "%s: by rules %q", db, d.Rules)
			if lacks && x.RewriteFailure == "" {
				assert.Equal(t, plan.RewriteFile, d.Step.Kind, "%s: by rule %q", db, d.By)
			}
		}
	})
}

// dpkg was killed, or the disk was full, and the upgrade can't be finished now.
func TestDecide_interrupted_upgrade(t *testing.T) {
	t.Parallel()
	interrupted := func(unavailable bool, x plan.Database, more ...change) change {
		return only(x, append(more, func(s *plan.State) {
			s.Packages.Installed, s.Packages.Unavailable = false, unavailable
			s.Packages.Version = ovndb.Version{OVN: "23.03", OVS: "3.3"}
		})...)
	}
	pause := func(s *plan.State) { s.Paused = true }
	full := func(s *plan.State) { s.Disk = "no space left" }
	down := plan.Database{Condition: ovndb.Down, Cluster: nbCluster}
	damaged := serving(ovndb.NB, 0)
	damaged.Damage = finding.Quote("it lacks entry 9")
	const lacks = "error FILE_LACKS_ENTRIES nb Path=. Detail=it lacks entry 9" + makeSpaceOrReplace
	check(t, map[string]situation{
		"finished":                 {interrupted(false, down), does(plan.Install, "")},
		"unavailable, server down": {interrupted(true, down), does(plan.Start, nbServer)},
		"unavailable, paused":      {interrupted(true, down, pause), finds(paused)},
		"file lacks entries":       {interrupted(true, damaged), does(plan.RewriteFile, "nb", lacks)},
		"file lacks entries, disk full": {
			interrupted(false, damaged, full),
			does(plan.RewriteFile, "nb", "error DISK_FULL Value=no space left"+makeSpaceThere, lacks),
		},
		// dpkg needs no source to configure unpacked packages
		"source invalid": {interrupted(false, down, invalid(plan.OptionSource)), does(plan.Install, "", invalidSource)},
		"source invalid, unavailable": {
			interrupted(true, down, invalid(plan.OptionSource)), does(plan.Start, nbServer, invalidSource),
		},
		"never installed": {
			interrupted(true, down, func(s *plan.State) { s.Packages.Source = "" }), does(plan.Install, ""),
		},
	})
}

func TestDecide_invalid_option(t *testing.T) {
	t.Parallel()
	source := func(s *plan.State) { invalid(plan.OptionSource)(s); s.Settings.Source = "no" }
	const invalidTimer = "error OPTION_INVALID ovsdb-server-election-timer Value=invalid" +
		" -> config ovn-central --reset ovsdb-server-election-timer"
	warns := func(option string) string {
		return "warning OPTION_INVALID " + option + " Value=invalid -> config ovn-central --reset " + option
	}
	check(t, map[string]situation{
		"source, no packages": {
			all(source, func(s *plan.State) { s.Packages = plan.Packages{} }), ready("waiting PACKAGES_AWAITED", invalidSource),
		},
		"source, service down": {
			all(source, func(s *plan.State) { s.Services[ovndb.Northd] = plan.ServiceState{} }),
			works(plan.Start, "ovn-northd", "info NORTHD_DOWN", invalidSource),
		},
		"source, not upgraded": {source, ready(invalidSource)},
		"election timer, not changed": {
			all(invalid(plan.OptionElectionTimer), nb(func(x *plan.Database) { x.Status.ElectionTimer = 8 * time.Second })),
			ready(invalidTimer),
		},
		"election timer, clusters created": {
			all(fresh(true, func(*plan.State) {}), invalid(plan.OptionElectionTimer)),
			does(plan.StageCluster, "nb 4s", invalidTimer),
		},
		"presentation": {
			invalid(plan.OptionStatusFormat, plan.OptionExporter, plan.OptionNagiosContext),
			ready(warns("cluster-status-format"), warns("nagios_context"), warns("ovn-exporter-channel")),
		},
	})
}

func TestDecide_machine(t *testing.T) {
	t.Parallel()
	check(t, map[string]situation{
		"data malformed": {
			func(s *plan.State) { s.Problem = finding.Quote("no ID") },
			ready("error PUBLISHED_DATA_INVALID Detail=no ID"),
		},
		"no packages": {func(s *plan.State) { *s = plan.State{} }, does(plan.Install, "")},
		"no address": {
			func(s *plan.State) { s.Address = "" },
			finds("waiting ADDRESS_UNKNOWN -> exec --unit ovn-central/0 network-get ovsdb-peer"),
		},
		"defaults":          {func(s *plan.State) { s.Defaults = plan.Drifted }, works(plan.WriteDefaults, "")},
		"defaults, restart": {func(s *plan.State) { s.Defaults = plan.NeedsRestart }, works(plan.WriteDefaults, "")},
		"firewall":          {func(s *plan.State) { s.Firewall = plan.Drifted }, works(plan.ConfigureFirewall, "")},
		"paused": {func(s *plan.State) {
			s.Paused = true
			set(s, plan.Database{Condition: ovndb.Down}, ovndb.NB, ovndb.SB)
		}, finds(paused)},
		"paused, certificate expires": {func(s *plan.State) {
			s.Paused = true
			s.Certificates.Used.NotAfter = noon.AddDate(0, 0, 7)
			s.Certificates.Issued = certificate("cert1", "A")
		}, does(plan.InstallCertificate, "",
			"warning CERTIFICATE_EXPIRES Time=2026-11-27 12:00:00 +0000 UTC"+reissue, paused)},
	})
}

// P8: a failed step is "cannot STEP" in the status and the log. Operators read both, and don't know the kinds of steps.
func TestStep_text(t *testing.T) {
	t.Parallel()
	nb, sb := ovndb.NB, ovndb.SB
	var texts strings.Builder
	for _, step := range []plan.Step{
		{Kind: plan.InstallCertificate},
		{Kind: plan.CommitCluster, Database: sb},
		{Kind: plan.StageCluster, Database: nb, Timer: 4 * time.Second},
		{Kind: plan.ConvertSchema, Database: sb, Timer: 84 * time.Second},
		{Kind: plan.SetElectionTimer, Database: nb, Timer: 2 * time.Second},
		{Kind: plan.Start, Services: []ovndb.Service{ovndb.NorthboundServer, ovndb.Northd}},
		{Kind: plan.Restart, Service: ovndb.Northd, Reason: "upgrade"},
		{Kind: plan.WithdrawRequest, Database: nb, Why: finding.Finding{Code: finding.RecoveryDying}},
		{Kind: plan.StopServer, Database: nb, Reason: "why"},
	} {
		fmt.Fprintln(&texts, step)
	}
	goldentest.Equal(t, "steps.txt", texts.String())
}
