package agent

import (
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/present"
	"github.com/ovn-central/ovn-central-operator/internal/status"
)

// seenByAgent are the codes that need no data of Juju: the agent finds them itself, more often than a hook.
var seenByAgent = []finding.Code{
	finding.NoQuorum, finding.CutOff, finding.Electing, finding.MajorityUnseen, finding.MemberDown, finding.PortsClosed,
}

// findings are the agent's findings about the clusters and, if they are known, the gateways; and the other findings of
// the unit's last hook.
func (a *Agent) findings(seen observe.Report, gateways map[finding.Code]int, known bool) []present.Document {
	byAgent := func(code string) bool { return slices.Contains(seenByAgent, finding.Code(code)) }
	all, err := present.Load(a.paths.Findings())
	if err != nil {
		a.log.Warn("cannot read what the last hook has found", "error", err)
	}
	if known { // one for each code, however many gateways there are
		for code, n := range gateways {
			if n > 0 {
				all = append(all, present.Documents(juju.Version{},
					[]finding.Finding{finding.New(code, finding.Subject{}, finding.Args{})})...)
			}
		}
	}
	if len(seen.Clusters) == 0 {
		return all
	}
	all = slices.DeleteFunc(all, func(d present.Document) bool { return byAgent(d.Code) })
	own := slices.DeleteFunc(present.Documents(juju.Version{}, status.Clusters(seen)), func(d present.Document) bool {
		return !byAgent(d.Code)
	})
	return append(all, own...)
}
