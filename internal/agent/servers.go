package agent

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ovn-central/ovn-central-operator/internal/machine"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
)

// longPollWindow is how much of a server's log is read.
const longPollWindow = time.Hour

// serverMetrics are metrics of this machine's database servers and their files.
type serverMetrics struct{ paths ovndb.Paths }

// Describe implements [prometheus.Collector]; see [metrics.Describe].
func (serverMetrics) Describe(chan<- *prometheus.Desc) {}

// Collect implements [prometheus.Collector]. A machine may have no server, or files that the agent can't read.
func (m serverMetrics) Collect(out chan<- prometheus.Metric) {
	gauge := of(out, prometheus.GaugeValue)
	if free, err := machine.FreeSpace(m.paths.DB); err == nil {
		gauge("ovn_central_disk_free_bytes", "Free space of the file system that has the database files.", float64(free))
	}
	for _, db := range ovndb.Databases() {
		gauge := gauge.with("database", db.Short())
		file, err := raftfile.ReadStorage(m.paths, db)
		if err != nil {
			continue
		}
		gauge("ovn_central_database_file_bytes", "Size of the database file of this machine's server; "+
			"absent if there is no file.", float64(file.Size))
		gauge("ovn_central_database_file_grown_bytes", "By how much the file has grown since it was last compacted.",
			float64(file.Grown()))
		now := wall()
		if !file.Written.IsZero() {
			gauge("ovn_central_database_file_compacted_seconds", "Seconds since the file was last compacted, or made; "+
				"absent if the file system does not record that.", max(now.Sub(file.Written).Seconds(), 0))
		}
		if polls, err := ovsctl.ReadLongPolls(m.paths, db, now.Add(-longPollWindow)); err == nil {
			gauge("ovn_central_server_long_polls", "How often in the last hour the server did not respond for a "+
				"second or more, by its log.", float64(polls.Count))
			gauge("ovn_central_server_longest_poll_seconds", "The longest of these, in seconds.", polls.Longest.Seconds())
		}
	}
}
