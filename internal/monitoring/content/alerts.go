// Package content has the dashboard and the alert rules: for the agent's metrics, for the exporter's metrics and for
// logs.
package content

import (
	_ "embed" // the rules
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/present"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
	"github.com/ovn-central/ovn-central-operator/internal/version"
)

// The rules for the exporter use the metrics of pkg/ovn_exporter/ovn_exporter.go of ovn_exporter 1.0.7. There,
// cluster_status is 1 for "cluster member", and 0 for a member without contact to a quorum. cluster_peer_count and
// cluster_peer_match_index are complete only on the leader; a follower counts its connections. If there is no
// process, pid is 0 and its database has no cluster_ metrics. ovn_up is 0 on every machine without Open vSwitch.
var (
	//go:embed alerts.json
	alertRules []byte
	//go:embed exporter-alerts.json
	exporterAlertRules []byte
	//go:embed log-alerts.json
	logAlertRules []byte
)

// alertSeverities has the severity labels of alerts by the severity of a finding.
var alertSeverities = map[finding.Severity]string{
	finding.Error: "critical", finding.Waiting: "warning", finding.Warning: "warning", finding.Info: "info",
}

const findingExpr = "max by (juju_model, juju_model_uuid, juju_application, juju_unit, subject) " +
	`(ovn_central_finding{%%%%juju_topology%%%%,code="%s"}) > 0`

// findingAlerts returns the alerts for lasting findings: one for each entry of the catalogue that has a time for its
// alert.
func findingAlerts() relation.AlertGroup {
	g := relation.AlertGroup{Name: "findings"}
	for _, e := range finding.Catalogue() {
		if e.For == 0 {
			continue
		}
		g.Rules = append(g.Rules, relation.AlertRule{
			Alert:  AlertName(e.Code),
			Expr:   fmt.Sprintf(findingExpr, e.Code),
			For:    e.For.String(),
			Labels: map[string]string{"severity": alertSeverities[e.Severity]},
			Annotations: map[string]string{
				"summary":     "{{ $labels.juju_unit }}: " + string(e.Code) + " {{ $labels.subject }}",
				"description": version.Linked(e.Meaning),
				"runbook":     version.Linked(e.Do) + " %%cluster_status%% shows the commands.",
				"runbook_url": present.URL(e.Code),
			},
		})
	}
	return g
}

// AlertName returns the name of the alert for a code: OVNCentralMemberDown for MEMBER_DOWN.
func AlertName(code finding.Code) string {
	name := "OVNCentral"
	for word := range strings.SplitSeq(strings.ToLower(string(code)), "_") {
		name += strings.ToUpper(word[:1]) + word[1:]
	}
	return name
}

// AlertRules returns the alert rules for the agent's metrics, with placeholders for [relation.AlertRules.For].
func AlertRules() relation.AlertRules {
	all := parse[relation.AlertRules](alertRules)
	all.Groups = append(all.Groups, findingAlerts())
	return all
}

// ExporterAlertRules is like [AlertRules], for the exporter's metrics.
func ExporterAlertRules() relation.AlertRules { return parse[relation.AlertRules](exporterAlertRules) }

// LogAlertRules is like [AlertRules], for the logs of a model's machines in Loki.
func LogAlertRules() relation.AlertRules { return parse[relation.AlertRules](logAlertRules) }

// parse parses an embedded file, and replaces paths of pages in it by URLs.
func parse[T any](text []byte) (all T) {
	if err := json.Unmarshal([]byte(version.Linked(string(text))), &all); err != nil {
		panic(err) // the file is malformed
	}
	return all
}
