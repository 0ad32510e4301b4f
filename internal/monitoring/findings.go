package monitoring

import (
	"fmt"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
	"github.com/ovn-central/ovn-central-operator/internal/version"
)

// alertSeverities are the labels of alerts by the severity of a finding.
var alertSeverities = map[finding.Severity]string{
	finding.Error: "critical", finding.Waiting: "warning", finding.Warning: "warning", finding.Info: "info",
}

// findingAlerts are the alerts for lasting findings, one for each entry of the catalogue with a time for it. page is
// the URL that explains a code.
func findingAlerts(page func(finding.Code) string) relation.AlertGroup {
	g := relation.AlertGroup{Name: "findings"}
	for _, e := range finding.Catalogue() {
		if e.For == 0 {
			continue
		}
		g.Rules = append(g.Rules, relation.AlertRule{
			Alert:  AlertName(e.Code),
			Expr:   fmt.Sprintf(`max by (juju_model, juju_model_uuid, juju_application, juju_unit, subject) (ovn_central_finding{%%%%juju_topology%%%%,code="%s"}) > 0`, e.Code),
			For:    e.For.String(),
			Labels: map[string]string{"severity": alertSeverities[e.Severity]},
			Annotations: map[string]string{
				"summary":     "{{ $labels.juju_unit }}: " + string(e.Code) + " {{ $labels.subject }}",
				"description": version.Linked(e.Meaning),
				"runbook":     version.Linked(e.Do) + " %%cluster_status%% shows the commands.",
				"runbook_url": page(e.Code),
			},
		})
	}
	return g
}

// AlertName is the name of the alert for a code: OVNCentralMemberDown for MEMBER_DOWN.
func AlertName(code finding.Code) string {
	name := "OVNCentral"
	for word := range strings.SplitSeq(strings.ToLower(string(code)), "_") {
		name += strings.ToUpper(word[:1]) + word[1:]
	}
	return name
}

// AlertRules are the alert rules for the agent's metrics, without what only a unit knows. page is the URL that explains
// a finding's code.
func AlertRules(page func(finding.Code) string) (relation.AlertRules, error) {
	all, err := parse(alertRules)
	all.Groups = append(all.Groups, findingAlerts(page))
	return all, err
}

// ExporterAlertRules are like [AlertRules], for the exporter's metrics.
func ExporterAlertRules() (relation.AlertRules, error) { return parse(exporterAlertRules) }

// LogAlertRules are like [AlertRules], for Loki: they are about the logs of a model's machines.
func LogAlertRules() (relation.AlertRules, error) { return parse(logAlertRules) }

// parse reads rules with the URLs of pages in their texts.
func parse(text []byte) (relation.AlertRules, error) {
	return relation.ParseAlertRules([]byte(version.Linked(string(text))))
}
