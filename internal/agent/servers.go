package agent

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ovn-central/ovn-central-operator/internal/ovn"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// longPollWindow is for how long back a server's log is looked at.
const longPollWindow = time.Hour

var (
	fileMetric = prometheus.NewDesc("ovn_central_database_file_bytes",
		"Size of the database file of this machine's server; no series where there is none.", []string{"database"}, nil)
	grownMetric = prometheus.NewDesc("ovn_central_database_file_grown_bytes",
		"By how much the file has grown since it was last compacted.", []string{"database"}, nil)
	writtenMetric = prometheus.NewDesc("ovn_central_database_file_compacted_seconds",
		"Seconds since the file was last compacted, or made; no series where the file system does not say.", []string{"database"}, nil)
	pollsMetric = prometheus.NewDesc("ovn_central_server_long_polls",
		"How often in the last hour the server answered nothing for a second or more, by its log.", []string{"database"}, nil)
	longestMetric = prometheus.NewDesc("ovn_central_server_longest_poll_seconds",
		"The longest of these, in seconds.", []string{"database"}, nil)
)

// serverMetrics are those of the files of this machine's database servers.
type serverMetrics struct{ paths ovndb.Paths }

// Describe implements [prometheus.Collector].
func (serverMetrics) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{fileMetric, grownMetric, writtenMetric, pollsMetric, longestMetric} {
		out <- d
	}
}

// Collect implements [prometheus.Collector]. An agent may run where no server does, and
// need not be able to read their files.
func (m serverMetrics) Collect(out chan<- prometheus.Metric) {
	for _, db := range ovndb.Databases() {
		gauge := func(d *prometheus.Desc, value float64) {
			out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, db.Short())
		}
		file, err := ovn.ReadStorage(m.paths, db)
		if err != nil {
			continue
		}
		gauge(fileMetric, float64(file.Size))
		gauge(grownMetric, float64(file.Grown()))
		now := wall()
		if !file.Written.IsZero() {
			gauge(writtenMetric, max(now.Sub(file.Written).Seconds(), 0))
		}
		if polls, err := ovn.ReadLongPolls(m.paths, db, now.Add(-longPollWindow)); err == nil {
			gauge(pollsMetric, float64(polls.Count))
			gauge(longestMetric, polls.Longest.Seconds())
		}
	}
}
