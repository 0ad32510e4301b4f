package status_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovn"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/status"
)

func TestServersAreReportedWithWhatIsToBeDone(t *testing.T) {
	t.Parallel()
	same := &ovn.Schemas{Served: "7.0.0", Packages: "7.0.0"}
	written := time.Date(2026, 11, 23, 9, 8, 7, 0, time.UTC)
	for title, c := range map[string]struct {
		facts               observe.ServerFacts
		line, warning, next string
	}{
		"as it should be": {
			observe.ServerFacts{Schemas: same, Storage: &ovn.Storage{Size: 3 << 20, Compacted: 1 << 20, Written: written}, LongPolls: new(ovn.LongPolls)},
			"nb: schema 7.0.0, the packages'; file 3.0 MiB, grown by 2.0 MiB since it was compacted at 2026-11-23 09:08 UTC", "", "",
		},
		"nothing known":              {observe.ServerFacts{}, "", "", ""},
		"no time in the file system": {observe.ServerFacts{Storage: &ovn.Storage{Size: 2 << 30, Compacted: 1 << 30}}, "nb: file 2.0 GiB, grown by 1.0 GiB since it was compacted", "", ""},
		"older schema": {
			observe.ServerFacts{Schemas: &ovn.Schemas{Served: "6.3.0", Packages: "7.0.0", Older: true}},
			"nb: schema 6.3.0, older than the packages' 7.0.0",
			"nb: schema 6.3.0 is served, the packages expect 7.0.0; the unit's status says what the conversion waits for", "juju status ovn-central",
		},
		"newer schema": {
			observe.ServerFacts{Schemas: &ovn.Schemas{Served: "7.1.0", Packages: "7.0.0", Newer: true}},
			"nb: schema 7.1.0, newer than the packages' 7.0.0",
			"nb: schema 7.1.0 is served, this unit's packages expect 7.0.0: they are older than another unit's", "juju ssh ovn-central/1 apt-cache policy ovn-central",
		},
		"large, and four times what it was": {
			observe.ServerFacts{Storage: &ovn.Storage{Size: 80 << 20, Compacted: 20 << 20}, Socket: "/run/nb.ctl"},
			"nb: file 80.0 MiB, grown by 60.0 MiB since it was compacted",
			"nb: the file has grown to 80.0 MiB (20.0 MiB after its last compaction): its server does not compact it",
			"juju ssh ovn-central/1 sudo ovs-appctl -t /run/nb.ctl ovsdb-server/compact OVN_Northbound",
		},
		"small, and four times what it was": {observe.ServerFacts{Storage: &ovn.Storage{Size: 40 << 10, Compacted: 10 << 10}}, "nb: file 40.0 KiB, grown by 30.0 KiB since it was compacted", "", ""},
		"silent, and the leader stays": {
			observe.ServerFacts{LongPolls: &ovn.LongPolls{Count: 3, Longest: 1234 * time.Millisecond}},
			"nb: silent 3 times for a second or more in the last hour, at most for 1.2s", "", "",
		},
		"silent for longer than the election timer": {
			observe.ServerFacts{LongPolls: &ovn.LongPolls{Count: 1, Longest: 4600 * time.Millisecond}},
			"nb: silent 1 times for a second or more in the last hour, at most for 4.6s",
			"nb: the server was silent for 4.6s, and the election timer is 4s: a leader that is silent for so long loses the leadership; if it happens again: juju config ovn-central ovsdb-server-election-timer=10", "",
		},
		"silent for longer than any election timer": {
			observe.ServerFacts{LongPolls: &ovn.LongPolls{Count: 1, Longest: time.Minute}},
			"nb: silent 1 times for a second or more in the last hour, at most for 1m0s",
			"nb: the server was silent for 1m0s, and the election timer is 4s: a leader that is silent for so long loses the leadership; if it happens again: juju config ovn-central ovsdb-server-election-timer=60", "",
		},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			server := observe.ServerState{Database: ovndb.NB, Condition: ovndb.Serving, Status: raft.Status{ElectionTimer: 4 * time.Second}}
			got := status.Servers(observe.Report{
				Application: observe.Application{Unit: "ovn-central/1"},
				Clusters:    []observe.Cluster{{ServerState: server, Facts: &c.facts}, {ServerState: observe.ServerState{Database: ovndb.SB}}},
			})
			one := func(text string) []string {
				if text == "" {
					return nil
				}
				return []string{text}
			}
			assert.Equal(t, status.ServerReport{Lines: one(c.line), Warnings: one(c.warning), Next: one(c.next)}, got)
		})
	}
}
