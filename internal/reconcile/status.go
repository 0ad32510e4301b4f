package reconcile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/status"
)

// Status is the unit's workload status: one word and one line, what an operator has
// to mend first. Options that can't be used come behind a quorum that is lost and a
// server that does not run, and before all else.
func (u *Reconciler) Status(o Result) (juju.StatusWord, string) {
	word, text := u.status(o)
	options := strings.Join(o.Decision.Options, "; ")
	switch {
	case options == "" && word == juju.Active:
		return word, status.Ready(text)
	case options == "":
		return word, text
	case word == juju.Blocked || word == juju.Maintenance || serverDown(o):
		return word, text + "; " + options
	}
	return juju.Blocked, options + "; " + text
}

// Northds is what is known of all units' ovn-northd.
func (o Result) Northds() plan.Northd { return o.state.Northds }

// AgentProblem is one line on what is wrong with the unit's agent; empty where nothing is.
func (o Result) AgentProblem() string { return o.agent }

// serverDown says whether a server that should run, since there is its file, does
// not answer.
func serverDown(o Result) bool {
	for _, l := range o.Snapshot.Servers {
		if l.Condition != ovndb.Serving && l.Condition != ovndb.Absent {
			return true
		}
	}
	return false
}

func (u *Reconciler) status(o Result) (juju.StatusWord, string) {
	d := o.Decision
	summary := status.Summarize(o.Report, o.state.Northd == ovndb.NorthdActive)
	word, text := summary.Word, summary.String()
	switch {
	case len(d.Blocked) > 0:
		return juju.Blocked, strings.Join(d.Blocked, "; ")
	case o.state.Paused:
		return juju.Maintenance, strings.Join(d.Notes, "; ")
	case o.Failure != nil && !busy(o.Failure):
		return juju.Blocked, firstLine(o.Failure.Error()) + "; Juju tries again by itself, details: juju debug-log --include " + u.Env.Unit
	case word == juju.Blocked && (serves(o) || o.state.Dying):
		return word, text
	case len(d.Waiting) > 0 && word == juju.Active:
		// The members' own state may well be why.
		return juju.Waiting, strings.Join(append(slices.Clone(d.Waiting), text), "; ")
	case len(d.Waiting) > 0:
		return juju.Waiting, strings.Join(d.Waiting, "; ")
	case word != juju.Active:
		return word, text
	case !d.Ready && !o.state.Dying:
		return juju.Waiting, "the client ports do not answer yet; " + text
	}
	var parts []string
	if summary.Problem != "" {
		parts = append(parts, summary.Problem)
	}
	if o.Failure != nil {
		parts = append(parts, firstLine(o.Failure.Error()))
	}
	parts = append(parts, d.Notes...)
	if o.agent != "" {
		parts = append(parts, "agent: "+o.agent)
	}
	if o.backup != "" {
		parts = append(parts, o.backup)
	}
	if o.firewallFailure != "" {
		parts = append(parts, "the firewall is not configured: "+o.firewallFailure)
	}
	if o.policyFailure != "" {
		parts = append(parts, o.policyFailure)
	}
	if len(d.Exposed) > 0 { // the command that removes it does not fit into the line
		parts = append(parts, fmt.Sprintf("%s: a listener has no TLS; see cluster-status", d.Exposed[0].Database.Short()))
	}
	stalled, runs := acting(o.agentStatus)
	parts = append(append(parts, stalled...), summary.Health)
	if o.backupAge != "" {
		parts = append(parts, o.backupAge)
	}
	parts = append(parts, runs...)
	return word, strings.Join(parts, "; ")
}

// serves says whether both servers answer: of others the decision says more.
func serves(o Result) bool {
	for _, l := range o.Snapshot.Servers {
		if l.Condition != ovndb.Serving {
			return false
		}
	}
	return true
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
