// Package document renders results for people: clusters, plans and the spread of gateways, the journal, nodes, answers
// of operations, the agent, backups, an upgrade. Programs get the same values as YAML or JSON (package render).
package document

import (
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/present"
)

// ForPrograms adds a document's findings for programs. The commands of findings about gateways are the same in all
// versions of Juju.
func ForPrograms(d any) any {
	found := func(all []finding.Finding) []finding.Document { return present.Documents(juju.Version{}, all) }
	switch d := d.(type) {
	case schedule.Plan:
		return struct {
			schedule.Plan `yaml:",inline"`
			Findings      []finding.Document `json:"problems" yaml:"problems"`
			Blocked       []finding.Document `json:"blocked,omitempty" yaml:"blocked,omitempty"`
		}{d, found(d.Findings), found(d.Blocked)}
	case schedule.Status:
		return struct {
			schedule.Status `yaml:",inline"`
			Findings        []finding.Document `json:"problems" yaml:"problems"`
		}{d, found(d.Findings)}
	case gateway.History:
		return struct {
			gateway.History `yaml:",inline"`
			Findings        []finding.Document `json:"problems" yaml:"problems"`
		}{d, found(d.Findings)}
	}
	return d
}
