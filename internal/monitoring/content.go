package monitoring

import _ "embed" // rules

// The exporter's metrics are those of the exporter's pkg/ovn_exporter/ovn_exporter.go, version 1.0.7. Some
// peculiarities: cluster_status is 1 for "cluster member", and so 0 for a member without contact to a quorum.
// cluster_peer_count and cluster_peer_match_index are complete on the leader only; a follower counts its connections.
// pid is 0 if there is no process, and then its database has no cluster_ metrics. ovn_up is 0 on every machine without
// Open vSwitch, so nothing uses it.
var (
	//go:embed alerts.json
	alertRules []byte
	//go:embed exporter-alerts.json
	exporterAlertRules []byte
	//go:embed log-alerts.json
	logAlertRules []byte
)
