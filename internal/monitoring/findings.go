package monitoring

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/version"
)

// rules are groups of alert rules, as Prometheus reads them.
type rules struct {
	Groups []group `json:"groups"`
}

type group struct {
	Name  string `json:"name"`
	Rules []any  `json:"rules"`
}

// rule is an alert.
type rule struct {
	Alert       string            `json:"alert"`
	Expr        string            `json:"expr"`
	For         string            `json:"for"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

// alertSeverities are the labels of alerts by the severity of a finding.
var alertSeverities = map[finding.Severity]string{
	finding.Error: "critical", finding.Waiting: "warning", finding.Warning: "warning", finding.Info: "info",
}

// findingAlerts are the alerts for lasting findings, one for each entry of the catalogue with a time for it. page is
// the URL that explains a code.
func findingAlerts(page func(finding.Code) string) group {
	g := group{Name: "findings"}
	for _, e := range finding.Catalogue() {
		if e.For == 0 {
			continue
		}
		g.Rules = append(g.Rules, rule{
			Alert:  AlertName(e.Code),
			Expr:   fmt.Sprintf(`max by (juju_model, juju_model_uuid, juju_application, juju_unit, subject) (ovn_central_finding{%%%%juju_topology%%%%,code="%s"}) > 0`, e.Code),
			For:    e.For.String(),
			Labels: map[string]string{"severity": alertSeverities[e.Severity]},
			Annotations: map[string]string{
				"summary":     "{{ $labels.juju_unit }}: " + string(e.Code) + " {{ $labels.subject }}",
				"description": e.Meaning,
				"runbook":     e.Do + " %%cluster_status%% shows the commands.",
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

// AlertRules are the alert rules for the agent's metrics, in the JSON that relation.ParseAlertRules reads, without Juju's
// labels. page is the URL that explains a finding's code; texts have the URLs of pages, too.
func AlertRules(page func(finding.Code) string) ([]byte, error) {
	var all rules
	if err := json.Unmarshal(alertRules, &all); err != nil {
		return nil, fmt.Errorf("cannot read the alert rules: %w", err)
	}
	all.Groups = append(all.Groups, findingAlerts(page))
	text, err := json.Marshal(all)
	return []byte(version.Linked(string(text))), err
}

// ExporterAlertRules are like [AlertRules], for the exporter's metrics.
func ExporterAlertRules() []byte { return []byte(version.Linked(string(exporterAlertRules))) }

// LogAlertRules are like [AlertRules], for Loki, with expressions about the logs of a model's machines.
func LogAlertRules() []byte { return []byte(version.Linked(string(logAlertRules))) }
