package deployment

import (
	"cmp"
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/vault"
)

// cloud is a lab with what the application needs around it.
type cloud struct {
	*lab.Lab
	vault *vault.CA
	// certificates, chassis and cms are relations; 0 where there is none.
	certificates, chassis, cms int
}

// newCloud makes an empty model.
func newCloud(t *testing.T, o lab.Options) *cloud {
	t.Helper()
	o.Charm, o.Program, o.Log = cmp.Or(o.Charm, charmDir), program, t.Output()
	l, err := lab.New(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { l.CloseOrKeep(t) })
	c := &cloud{Lab: l, vault: l.CA()}
	require.NoError(t, c.Configure(t.Context(), map[string]string{"source": "distro"}))
	return c
}

// relateVault relates a CA that issues what is asked for.
func (c *cloud) relateVault(t *testing.T) {
	t.Helper()
	c.vaultAnswers(t)
	var err error
	c.certificates, err = c.Relate(t.Context(), "certificates", "vault", 1)
	require.NoError(t, err)
}

// vaultAnswers has the CA issue, from now on, what is asked for.
func (c *cloud) vaultAnswers(t *testing.T) {
	t.Helper()
	c.OnRemote("certificates", func(unit string, bag map[string]string) map[string]string {
		answer, err := c.vault.Answer(unit, bag)
		if err != nil {
			t.Errorf("vault: %v", err)
		}
		return answer
	})
}

// relateClients relates a chassis and a CMS.
func (c *cloud) relateClients(t *testing.T) {
	t.Helper()
	var err error
	c.chassis, err = c.Relate(t.Context(), "ovsdb", "ovn-chassis", 1)
	require.NoError(t, err)
	c.cms, err = c.Relate(t.Context(), "ovsdb-cms", "neutron-api-plugin-ovn", 1)
	require.NoError(t, err)
}

// addFresh adds n units on empty machines.
func (c *cloud) addFresh(t *testing.T, n int) (units []*lab.Unit) {
	t.Helper()
	for range n {
		u, err := c.AddUnitWith(t.Context(), lab.AddOptions{Fresh: true, NoHooks: true})
		require.NoError(t, err)
		units = append(units, u)
	}
	require.NoError(t, c.Settle(t.Context()))
	return units
}

// within bounds what a test waits for.
func within(t *testing.T, d time.Duration) context.Context { //nolint:unparam // each says how long it is patient
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}
