package agent

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
)

// longPollWindow is for how long back a server's log is looked at.
const longPollWindow = time.Hour

// serverMetrics are those of the files of this machine's database servers.
type serverMetrics struct{ paths ovndb.Paths }

// Describe implements [prometheus.Collector], as [metrics.Describe].
func (serverMetrics) Describe(chan<- *prometheus.Desc) {}

// Collect implements [prometheus.Collector]. An agent may run where no server does, and
// need not be able to read their files.
func (m serverMetrics) Collect(out chan<- prometheus.Metric) {
	gauge := of(out, prometheus.GaugeValue)
	for _, db := range ovndb.Databases() {
		file, err := raftfile.ReadStorage(m.paths, db)
		if err != nil {
			continue
		}
		gauge("ovn_central_database_file_bytes", "Size of the database file of this machine's server; no series where there is none.", float64(file.Size), "database", db.Short())
		gauge("ovn_central_database_file_grown_bytes", "By how much the file has grown since it was last compacted.", float64(file.Grown()), "database", db.Short())
		now := wall()
		if !file.Written.IsZero() {
			gauge("ovn_central_database_file_compacted_seconds", "Seconds since the file was last compacted, or made; no series where the file system does not say.", max(now.Sub(file.Written).Seconds(), 0), "database", db.Short())
		}
		if polls, err := ovsctl.ReadLongPolls(m.paths, db, now.Add(-longPollWindow)); err == nil {
			gauge("ovn_central_server_long_polls", "How often in the last hour the server answered nothing for a second or more, by its log.", float64(polls.Count), "database", db.Short())
			gauge("ovn_central_server_longest_poll_seconds", "The longest of these, in seconds.", polls.Longest.Seconds(), "database", db.Short())
		}
	}
}
