package action

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/gateway/journal"
	"github.com/ovn-central/ovn-central-operator/internal/node"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
)

// 002-2: the specification's defaults, and its names of what is etcd there.
func TestParametersOfADecommissionAreRead(t *testing.T) {
	t.Parallel()
	seconds := func(n int) time.Duration { return time.Duration(n) * time.Second }
	standard := node.DecommissionRequest{
		Node: "c1", Drain: maintenance.Limits{Timeout: seconds(3600), Grace: seconds(1800)}, Clear: seconds(1800), Member: seconds(1800), Ready: seconds(600),
	}
	for name, test := range map[string]struct {
		given  params
		differ func(*node.DecommissionRequest)
	}{
		"defaults": {params{}, func(*node.DecommissionRequest) {}},
		"its own names": {params{"clear-labels-timeout": json.Number("5"), "remove-member-timeout": json.Number("6"), "cluster-ready-timeout": json.Number("7")}, func(r *node.DecommissionRequest) {
			r.Clear, r.Member, r.Ready = seconds(5), seconds(6), seconds(7)
		}},
		"the specification's names": {params{"remove-etcd-timeout": json.Number("8"), "etcd-ready-timeout": json.Number("9")}, func(r *node.DecommissionRequest) {
			r.Member, r.Ready = seconds(8), seconds(9)
		}},
		"its own before the specification's": {params{"remove-etcd-timeout": json.Number("8"), "remove-member-timeout": json.Number("6"), "etcd-ready-timeout": json.Number("9"), "cluster-ready-timeout": json.Number("7")}, func(r *node.DecommissionRequest) {
			r.Member, r.Ready = seconds(6), seconds(7)
		}},
		"a shorter drain has a shorter grace period": {params{"drain-node-timeout": json.Number("100")}, func(r *node.DecommissionRequest) {
			r.Drain = maintenance.Limits{Timeout: seconds(100), Grace: seconds(50)}
		}},
		"both limits": {params{"drain-node-timeout": json.Number("100"), "drain-node-grace-period": json.Number("99")}, func(r *node.DecommissionRequest) {
			r.Drain = maintenance.Limits{Timeout: seconds(100), Grace: seconds(99)}
		}},
		"files are kept":    {params{"preserve-db": true}, func(*node.DecommissionRequest) {}},
		"files are dropped": {params{"preserve-db": false}, func(r *node.DecommissionRequest) { r.DropFiles = true }},
		"all else": {params{"min-members": json.Number("3"), "reason": " old ", "dry-run": true, "force": true, "i-really-mean-it": true}, func(r *node.DecommissionRequest) {
			r.MinMembers, r.Reason, r.DryRun, r.Force, r.Confirmed = 3, "old", true, true, true
		}},
	} {
		want := standard
		test.differ(&want)
		test.given["node"] = "c1"
		given, err := test.given.node()
		require.NoError(t, err, name)
		assert.Equal(t, want, given.decommission(), name)
	}
}

func TestParametersOfOperationsOnNodesAreRead(t *testing.T) {
	t.Parallel()
	given, err := params{
		"node": "c1", "name": "bgp", "reason": "x", "format": "json", "timeout": json.Number("60"), "grace-period": json.Number("0"), "wait": json.Number("0"),
	}.node()
	require.NoError(t, err)
	assert.Equal(t, maintenance.Limits{Timeout: time.Minute}, given.limits)
	assert.Equal(t, []string{"c1", "bgp", "x", "json"}, []string{given.node, given.name, given.reason, given.format})
	assert.Zero(t, given.wait)
	given, err = params{}.node()
	require.NoError(t, err)
	assert.Equal(t, maintenance.Limits{Timeout: maintenance.DefaultTimeout, Grace: maintenance.DefaultGrace}, given.limits)
	assert.Equal(t, time.Minute, given.wait)

	for key, value := range map[string]any{
		"node": true, "name": true, "reason": []any{}, "format": false, "dry-run": "yes", "timeout": "1h", "grace-period": json.Number("-1"),
		"wait": json.Number("601"), "drain-node-timeout": json.Number("9001"), "drain-node-grace-period": "x", "clear-labels-timeout": json.Number("1.5"),
		"remove-member-timeout": true, "remove-etcd-timeout": true, "cluster-ready-timeout": true, "etcd-ready-timeout": true, "min-members": json.Number("101"),
		"force": "true", "i-really-mean-it": json.Number("1"), "preserve-db": "no",
	} {
		_, err := params{key: value}.node()
		require.ErrorContains(t, err, "parameter "+key+" can't be used", key)
	}
}

// 002-13, 002-15.
func TestParametersOfRevisionsAreRead(t *testing.T) {
	t.Parallel()
	r, _, err := params{"review-id": "v1", "target-revision": "last-site-action", "allow-intermediate-commits": true}.gateways()
	require.NoError(t, err)
	assert.Equal(t, "v1", r.ReviewID)
	assert.Equal(t, journal.Last, r.Target)
	assert.True(t, r.AllowIntermediate)
	for key, value := range map[string]any{"review-id": true, "target-revision": true, "allow-intermediate-commits": "true"} {
		_, _, err := params{key: value}.gateways()
		require.ErrorContains(t, err, "parameter "+key+" can't be used")
	}
	u := unit(t, new(agent))
	command := u.Env.Version.Render(u.again("rebalance-gateways", params{"review-id": "v1", "target-revision": "committed", "allow-intermediate-commits": true, "dry-run": true}, moving, "i-really-mean-it"))
	assert.Equal(t, "juju run ovn-central/0 rebalance-gateways target-revision=committed review-id=v1 allow-intermediate-commits=true i-really-mean-it=true", command, "what confirms a plan asks for the same")
}

// What Juju does not tell is not taken for an answer.
func TestUnitsAreUnknownWhereJujuDoesNotAnswer(t *testing.T) {
	for _, broken := range []string{"goal-state", "relation-ids"} {
		c := unit(t, &agent{broken: broken}).charm(t.Context())
		require.NotEmpty(t, c.Unknown, broken)
		assert.Contains(t, c.Unknown[0], "connection is shut down")
	}
	c := unit(t, new(agent)).charm(t.Context())
	require.Len(t, c.Unknown, 1)
	assert.Contains(t, c.Unknown[0], "members of OVN_Southbound: there is no database file, and no server runs")
	require.Len(t, c.Units, 1)
	assert.NotEmpty(t, c.Units[0].Hostname)
}
