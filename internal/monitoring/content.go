package monitoring

import (
	"bytes"
	_ "embed" // rules and dashboard
	"encoding/base64"
	"encoding/json"
	"fmt"
)

// The metrics are those of the exporter's pkg/ovn_exporter/ovn_exporter.go, version
// 1.0.7. What has to be known of them: cluster_status is 1 for "cluster member"
// only, so 0 also where a member has no contact to a quorum. cluster_peer_count and
// cluster_peer_match_index are whole on the leader alone; a follower counts its
// connections. pid is 0 where a process is not there, and then its database has no
// cluster_ metrics. ovn_up is 0 on every machine without Open vSwitch, so nothing
// uses it.
var (
	//go:embed alerts.json
	alertRules []byte
	//go:embed dashboard.json
	dashboard []byte
)

// Dashboards are the dashboards for Grafana as the relation cos-agent wants them: each
// as JSON, in the format of xz, in base64. They are the same for every unit.
func Dashboards() ([]string, error) {
	var small bytes.Buffer
	if err := json.Compact(&small, dashboard); err != nil {
		return nil, fmt.Errorf("cannot read the dashboard: %w", err)
	}
	return []string{base64.StdEncoding.EncodeToString(xz(small.Bytes()))}, nil
}
