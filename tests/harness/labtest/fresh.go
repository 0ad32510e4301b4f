package labtest

import (
	"cmp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/vault"
)

// Empty starts a lab without units and relations, whose charm is the real one.
func Empty(t *testing.T, o lab.Options) *Model {
	t.Helper()
	o.Charm = cmp.Or(o.Charm, charmDir)
	m := start(t, o)
	require.NoError(t, m.Configure(t.Context(), map[string]string{"source": "distro"}))
	return m
}

// Fresh starts a lab with a CA, clients, and n units that were empty machines and are active.
func Fresh(t *testing.T, n int, o lab.Options) (*Model, []*lab.Unit) {
	t.Helper()
	m := Empty(t, o)
	m.RelateVault()
	m.RelateClients()
	units := m.AddFresh(n)
	m.RequireActive(units...)
	return m, units
}

// start starts a lab whose program plays the tools, and closes it at the end of the test.
func start(t *testing.T, o lab.Options) *Model {
	t.Helper()
	o.Program, o.Log = program, t.Output()
	l, err := lab.New(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { l.CloseOrKeep(t) })
	return &Model{Lab: l, T: t}
}

// Run runs a subtest on the same units, which may add and remove some. It may not be parallel.
func (m *Model) Run(name string, test func(*Model)) {
	m.T.Helper()
	m.T.Run(name, func(t *testing.T) {
		t.Helper()
		sub := *m
		sub.T = t
		defer func() { m.Deployed = sub.Deployed }()
		test(&sub)
	})
}

// RefreshCharm refreshes the application to the charm that is tested.
func (m *Model) RefreshCharm() {
	m.T.Helper()
	require.NoError(m.T, m.Refresh(m.T.Context(), charmDir))
}

// RelateVault relates a CA that issues what it is asked for.
func (m *Model) RelateVault() {
	m.T.Helper()
	m.VaultAnswers()
	m.RelateSealedVault()
}

// RelateSealedVault relates a CA that issues nothing before [Model.VaultAnswers].
func (m *Model) RelateSealedVault() {
	m.T.Helper()
	var err error
	m.Certificates, err = m.Relate(m.T.Context(), "certificates", "vault", 1)
	require.NoError(m.T, err)
}

// VaultAnswers has the CA issue, from now on, what it is asked for.
func (m *Model) VaultAnswers() { m.answerFrom(m.CA(), nil) }

// Issue has the provider answer again, from another CA or with an answer that alter changes. alter
// gets the unit's name as the keys of the answer have it.
func (m *Model) Issue(from *vault.CA, alter func(unit string, answer map[string]string)) {
	m.T.Helper()
	m.answerFrom(from, alter)
	require.NoError(m.T, m.Settle(m.T.Context()))
}

func (m *Model) answerFrom(ca *vault.CA, alter func(unit string, answer map[string]string)) {
	m.OnRemote("certificates", func(unit string, bag map[string]string) map[string]string {
		answer, err := ca.Answer(unit, bag)
		if err != nil {
			m.T.Errorf("vault: %v", err)
			return nil
		}
		if alter != nil {
			alter(strings.ReplaceAll(unit, "/", "_"), answer)
		}
		return answer
	})
}

// RelateClients relates a chassis and a CMS.
func (m *Model) RelateClients() {
	m.T.Helper()
	var err error
	m.Chassis, err = m.Relate(m.T.Context(), "ovsdb", "ovn-chassis", 1)
	require.NoError(m.T, err)
	m.CMS, err = m.Relate(m.T.Context(), "ovsdb-cms", "neutron-api-plugin-ovn", 1)
	require.NoError(m.T, err)
}

// AddFresh adds n units on empty machines, and runs their hooks.
func (m *Model) AddFresh(n int) (units []*lab.Unit) {
	m.T.Helper()
	for range n {
		units = append(units, m.AddEmpty())
	}
	require.NoError(m.T, m.Settle(m.T.Context()))
	return units
}

// AddEmpty adds a unit on an empty machine, none of whose hooks has run.
func (m *Model) AddEmpty() *lab.Unit {
	m.T.Helper()
	u, err := m.AddUnitWith(m.T.Context(), lab.AddOptions{Fresh: true, NoHooks: true})
	require.NoError(m.T, err)
	m.Deployed = append(m.Deployed, u)
	return u
}
