package recovery

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// S5: both databases name their own cluster as given up. All servers start again. The command that ends this is typed by
// TestRemedies_work_as_printed.
func TestRecover_cluster_named_as_given_up(t *testing.T) {
	m := labtest.Deploy(t, 3)
	for _, db := range lab.Databases {
		_, err := m.Deployed[0].Exec(t.Context(), "ovn-"+string(db)+"ctl", "--timeout=20", "--db="+m.Remotes(db), "set",
			strings.ToUpper(string(db))+"_Global", ".", `external_ids:"ovn-central:superseded"=`+m.ClusterID(m.Deployed[0], db))
		require.NoError(t, err)
	}
	m.RunUpdateStatus(m.Deployed...)
	m.RequireActive(m.Deployed...)
	for _, u := range m.Deployed {
		m.Finds(u, finding.ReplacesItself, "nb")
		m.Finds(u, finding.ReplacesItself, "sb")
		m.FindsNone(u, finding.NotInNewCluster)
	}

	m.Hold(true)
	m.PowerOff(m.Deployed...)
	for _, err := range labtest.AtOnce(m.Deployed, func(u *lab.Unit) error { return u.Boot(t.Context()) }) {
		require.NoError(t, err)
	}
	m.Eventually("all servers are members without a hook", labtest.AllMembers(m, m.Deployed...))
}

// Two units were given up and removed by force, so that the remaining unit's firewall admits them to SB's port for
// chassis only. While they reach that unit, neither serves a database, whichever boots first. If they don't, they can't
// know, and serve the old clusters.
func TestStartGuard_old_majority_of_removed_units(t *testing.T) {
	m := labtest.Deploy(t, 3)
	left, lost := m.Deployed[0], m.Deployed[1:]
	m.Lose(lost...)
	m.Eventually("the recovery is accepted", func() bool {
		r, err := m.RunAction(t.Context(), left, "recover", "give-up="+labtest.Names(lost), "i-really-mean-it=true")
		require.NoError(t, err)
		return r.Status == "completed"
	})
	require.NoError(t, m.Settle(t.Context()))
	m.Tick("a new cluster", labtest.AllMembers(m, left), left)
	for _, u := range lost {
		m.RemoveByForce(u)
	}
	m.RunUpdateStatus(left)
	enforceFirewall(m, left)
	served := func(u *lab.Unit) (dbs []lab.DB) {
		for _, db := range lab.Databases {
			if u.Running(db) {
				dbs = append(dbs, db)
			}
		}
		return dbs
	}

	for _, order := range [][]*lab.Unit{{lost[0], lost[1]}, {lost[1], lost[0]}} {
		for _, u := range order {
			require.NoError(t, u.Boot(t.Context()))
			_, err := u.Exec(t.Context(), "ovn-nbctl", "--timeout=5", "--no-leader-only", "--db=ssl:"+left.Address()+":6641", "show")
			require.Error(t, err, "the firewall admits %s", u.Name())
			labtest.Output(t, u, "ovn-sbctl", "--timeout=5", "--no-leader-only", "--db=ssl:"+left.Address()+":6642", "show")
			assert.Empty(t, served(u), "%s has booted", u.Name())
		}
		for _, u := range order {
			for _, db := range lab.Databases { // one alone, as by a person
				_, _, err := u.Systemctl(t.Context(), "start", db.Service())
				require.NoError(t, err)
			}
			assert.Empty(t, served(u), "%s was asked to start its servers", u.Name())
		}
		m.PowerOff(order...)
	}

	require.NoError(t, left.Cut(true))
	for _, u := range lost {
		require.NoError(t, u.Boot(t.Context()))
	}
	for _, db := range lab.Databases {
		m.Eventually("the old cluster is served", func() bool { return m.HasLeader(lost[0], db) })
	}
	require.NoError(t, left.Cut(false))
	m.PowerOff(lost[1])
	require.NoError(t, lost[1].Boot(t.Context()))
	assert.Empty(t, served(lost[1]), "the other one serves the old cluster, but the new one can be reached")
	for _, db := range lab.Databases {
		m.Eventually("the old cluster has no quorum", func() bool { return !m.HasLeader(lost[0], db) })
	}
	m.AddSwitch("kept")
}

// enforceFirewall enforces a machine's ufw rules on connections from other machines, until it is off.
func enforceFirewall(m *labtest.Model, u *lab.Unit) {
	m.T.Helper()
	rules := [][]string{{"-A", "INPUT", "-i", "lo", "-j", "ACCEPT"}, {"-A", "INPUT", "-m", "conntrack", "--ctstate", "ESTABLISHED,RELATED", "-j", "ACCEPT"}}
	for _, rule := range m.FirewallRules(u) {
		words := strings.Fields(rule)
		ports, tcp := strings.CutSuffix(words[0], "/tcp")
		if !tcp || words[1] == "(v6)" {
			continue
		}
		add := []string{"-A", "INPUT", "-p", "tcp", "-m", "multiport", "--dports", ports}
		if from := words[3]; from != "Anywhere" {
			add = append(add, "-s", from)
		}
		switch words[1] {
		case "ALLOW":
			add = append(add, "-j", "ACCEPT")
		case "REJECT":
			add = append(add, "-j", "REJECT", "--reject-with", "tcp-reset")
		default:
			require.Fail(m.T, "what does ufw do?", rule)
		}
		rules = append(rules, add)
	}
	for _, rule := range rules {
		labtest.Output(m.T, u, "/usr/sbin/iptables", append([]string{"-w", "20"}, rule...)...)
	}
}
