package status_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
	"github.com/ovn-central/ovn-central-operator/internal/status"
)

func TestServersAreReportedWithWhatIsToBeDone(t *testing.T) {
	t.Parallel()
	same := &ovsctl.Schemas{Served: "7.0.0", Packages: "7.0.0"}
	written := time.Date(2026, 11, 23, 9, 8, 7, 0, time.UTC)
	for title, c := range map[string]struct {
		facts       observe.ServerFacts
		line, found string
	}{
		"as it should be": {
			observe.ServerFacts{Schemas: same, Storage: &raftfile.Storage{Size: 3 << 20, Compacted: 1 << 20, Written: written}, LongPolls: new(ovsctl.LongPolls)},
			"nb: schema 7.0.0, the packages'; file 3.0 MiB, grown by 2.0 MiB since it was compacted at 2026-11-23 09:08 UTC", "",
		},
		"nothing known":              {observe.ServerFacts{}, "", ""},
		"no time in the file system": {observe.ServerFacts{Storage: &raftfile.Storage{Size: 2 << 30, Compacted: 1 << 30}}, "nb: file 2.0 GiB, grown by 1.0 GiB since it was compacted", ""},
		"older schema": {
			observe.ServerFacts{Schemas: &ovsctl.Schemas{Served: "6.3.0", Packages: "7.0.0", Older: true}},
			"nb: schema 6.3.0, older than the packages' 7.0.0", "",
		},
		"newer schema": {
			observe.ServerFacts{Schemas: &ovsctl.Schemas{Served: "7.1.0", Packages: "7.0.0", Newer: true}},
			"nb: schema 7.1.0, newer than the packages' 7.0.0",
			"warning SCHEMA_NEWER nb Version=7.1.0 -> ssh ovn-central/1 apt-cache policy ovn-central",
		},
		"large, and four times what it was": {
			observe.ServerFacts{Storage: &raftfile.Storage{Size: 80 << 20, Compacted: 20 << 20}, Socket: "/run/nb.ctl"},
			"nb: file 80.0 MiB, grown by 60.0 MiB since it was compacted",
			"warning FILE_OVERGROWN nb Value=80.0 MiB -> ssh ovn-central/1 sudo ovs-appctl -t /run/nb.ctl ovsdb-server/compact OVN_Northbound",
		},
		"small, and four times what it was": {observe.ServerFacts{Storage: &raftfile.Storage{Size: 40 << 10, Compacted: 10 << 10}}, "nb: file 40.0 KiB, grown by 30.0 KiB since it was compacted", ""},
		"silent, and the leader stays": {
			observe.ServerFacts{LongPolls: &ovsctl.LongPolls{Count: 3, Longest: 1234 * time.Millisecond}},
			"nb: silent 3 times for a second or more in the last hour, at most for 1.2s", "",
		},
		"silent for longer than the election timer": {
			observe.ServerFacts{LongPolls: &ovsctl.LongPolls{Count: 1, Longest: 4600 * time.Millisecond}},
			"nb: silent 1 times for a second or more in the last hour, at most for 4.6s",
			"warning SERVER_SILENT nb Value=4.6s Duration=4s -> IF_IT_REPEATS: config ovn-central ovsdb-server-election-timer=10",
		},
		"silent for longer than any election timer": {
			observe.ServerFacts{LongPolls: &ovsctl.LongPolls{Count: 1, Longest: time.Minute}},
			"nb: silent 1 times for a second or more in the last hour, at most for 1m0s",
			"warning SERVER_SILENT nb Value=1m0s Duration=4s -> IF_IT_REPEATS: config ovn-central ovsdb-server-election-timer=60",
		},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			server := observe.ServerState{Database: ovndb.NB, Condition: ovndb.Serving, Status: raft.Status{ElectionTimer: 4 * time.Second}}
			lines, all := status.Servers(observe.Report{
				Application: observe.Application{Unit: "ovn-central/1"},
				Clusters:    []observe.Cluster{{ServerState: server, Facts: &c.facts}, {ServerState: observe.ServerState{Database: ovndb.SB}}},
			})
			assert.Equal(t, c.line, strings.Join(lines, "\n"))
			assert.Equal(t, c.found, strings.Join(briefs(all), "\n"))
		})
	}
}
