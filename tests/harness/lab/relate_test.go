package lab_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// since returns the hooks that a unit has run after the first n.
func since(u *lab.Unit, n int) []string { return u.Hooks()[n:] }

func TestOtherSideIsPlayedByItsAnswers(t *testing.T) {
	l, units := withUnits(t, 2, true, scripts{
		"certificates-relation-joined":  `relation-set -r 2 request="$JUJU_UNIT_NAME"`,
		"certificates-relation-changed": `relation-get --format=json -r 2 - vault/0 > got`,
	})
	l.OnRemote("certificates", func(unit string, bag map[string]string) map[string]string {
		if bag["request"] == "" {
			return nil
		}
		return map[string]string{"for-" + unit: bag["request"]}
	})
	id, err := l.Relate(ctx(t), "certificates", "vault", 1)
	require.NoError(t, err)
	assert.Equal(t, "ovn-central/1", l.RelationData(id).RemoteUnits["vault/0"]["for-ovn-central/1"])
	for _, u := range units {
		assert.Contains(t, read(t, u.CharmDir(), "got"), `"for-`+u.Name()+`":"`+u.Name()+`"`)
	}
}

func TestRelationThatTheCharmLacksIsRefused(t *testing.T) {
	l, _ := withUnits(t, 1, true, nil)
	_, err := l.Relate(ctx(t), "nope", "vault", 1)
	require.EqualError(t, err, `cannot relate: application "ovn-central" has no "nope" relation`)
	require.Error(t, l.Unrelate(ctx(t), 1), "a peer relation stays as long as the application")
	id, err := l.Relate(ctx(t), "ovsdb", "neutron", 1)
	require.NoError(t, err)
	require.Error(t, l.RemoteSet(ctx(t), id, "neutron/7", map[string]string{"a": "b"}))
}

func TestNewAddressReachesCharmAndRelations(t *testing.T) {
	l, units := withUnits(t, 2, true, scripts{"config-changed": `for each in ovsdb ovsdb-peer; do network-get --format=json $each; done > net`})
	u := units[0]
	_, err := l.Relate(ctx(t), "ovsdb", "neutron", 1)
	require.NoError(t, err)
	require.NoError(t, l.Bind(ctx(t), u, "ovsdb", "198.51.100.7", "fd99::7"))
	const one = `{"hostname":"","value":"%s","cidr":"10.99.0.0/24"}`
	assert.JSONEq(t, `{"bind-addresses":[{"mac-address":"","interface-name":"eth0","addresses":[`+
		`{"hostname":"","value":"198.51.100.7","cidr":"198.51.100.0/24"},{"hostname":"","value":"fd99::7","cidr":"fd99::/64"}]}],`+
		`"egress-subnets":["198.51.100.7/32","fd99::7/128"],"ingress-addresses":["198.51.100.7","fd99::7"]}`,
		strings.SplitN(read(t, u.CharmDir(), "net"), "\n", 2)[0])
	assert.Contains(t, read(t, u.CharmDir(), "net"), fmt.Sprintf(one, u.Address()))
	assert.Equal(t, map[string]string{
		"egress-subnets": "198.51.100.7/32,fd99::7/128", "ingress-address": "198.51.100.7", "private-address": "198.51.100.7",
	}, l.RelationData(2).Units[u.Name()])
	require.NoError(t, l.SetAddress(ctx(t), u, "10.99.0.99", "fd99::99"))
	assert.Contains(t, read(t, u.CharmDir(), "net"), fmt.Sprintf(one, "10.99.0.99"))
	assert.Equal(t, "10.99.0.99", u.Data()["ingress-address"])
	assert.Contains(t, units[1].Hooks(), "ovsdb-peer-relation-changed ovn-central/0")
}
