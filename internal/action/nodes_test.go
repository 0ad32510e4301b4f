package action

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
	"github.com/ovn-central/ovn-central-operator/internal/foreign"
	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/journal"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/node"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
)

// 002-2: the specification's defaults, and its names of parameters, which speak of etcd.
func TestParams_node(t *testing.T) {
	t.Parallel()
	seconds := func(n int) time.Duration { return time.Duration(n) * time.Second }
	for name, test := range map[string]struct {
		given  string // numbers are read as from Juju
		differ func(*node.Request)
	}{
		"defaults": {`{"preserve-db": true}`, func(*node.Request) {}},
		"own names": {
			`{"clear-labels-timeout": 5, "remove-member-timeout": 6, "cluster-ready-timeout": 7}`,
			func(r *node.Request) { r.Clear, r.Member, r.Ready = seconds(5), seconds(6), seconds(7) },
		},
		"the specification's names": {
			`{"remove-etcd-timeout": 8, "etcd-ready-timeout": 9}`,
			func(r *node.Request) { r.Member, r.Ready = seconds(8), seconds(9) },
		},
		"own names override the specification's": {
			`{"remove-etcd-timeout": 8, "remove-member-timeout": 6, "etcd-ready-timeout": 9, "cluster-ready-timeout": 7}`,
			func(r *node.Request) { r.Member, r.Ready = seconds(6), seconds(7) },
		},
		"grace period of a shorter drain": {
			`{"drain-node-timeout": 100}`,
			func(r *node.Request) { r.Limits = maintenance.Limits{Timeout: seconds(100), Grace: seconds(50)} },
		},
		"both limits": {
			`{"drain-node-timeout": 100, "drain-node-grace-period": 99}`,
			func(r *node.Request) { r.Limits = maintenance.Limits{Timeout: seconds(100), Grace: seconds(99)} },
		},
		"limits of a drain": {
			`{"timeout": 60, "grace-period": 0, "wait": 0}`,
			func(r *node.Request) { r.Limits, r.Wait = maintenance.Limits{Timeout: time.Minute}, 0 },
		},
		"all else": {
			`{"min-members": 3, "reason": " old ", "dry-run": true, "force": true, "i-really-mean-it": true,
				"preserve-db": false, "name": "bgp"}`,
			func(r *node.Request) {
				r.MinMembers, r.Reason, r.Hold = 3, "old", "bgp"
				r.DryRun, r.Force, r.Confirmed, r.DropFiles = true, true, true, true
			},
		},
	} {
		want := node.Request{
			Node: "c1", Wait: time.Minute, Limits: maintenance.Limits{Timeout: seconds(3600), Grace: seconds(1800)},
			Clear: seconds(1800), Member: seconds(1800), Ready: seconds(600),
		}
		test.differ(&want)
		p := newParams(asGiven(t, test.given))
		p.given["node"] = "c1"
		assert.Equal(t, want, p.node(), name)
		require.NoError(t, p.err(), name)
	}

	wrong := asGiven(t, `{"node": true, "name": true, "reason": [], "format": false, "dry-run": "yes", "timeout": "1h",
		"grace-period": -1, "wait": 601, "drain-node-timeout": 9001, "drain-node-grace-period": "x",
		"clear-labels-timeout": 1.5, "remove-member-timeout": true, "remove-etcd-timeout": true,
		"cluster-ready-timeout": true, "etcd-ready-timeout": true, "min-members": 101, "force": "true",
		"i-really-mean-it": 1, "preserve-db": "no"}`)
	requireInvalid(t, wrong, func(p *params) { p.node() })
}

// asGiven reads parameters as action-get prints them.
func asGiven(t *testing.T, text string) (given map[string]any) {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	require.NoError(t, decoder.Decode(&given))
	return given
}

// requireInvalid requires that each parameter alone is refused.
func requireInvalid(t *testing.T, wrong map[string]any, read func(*params)) {
	t.Helper()
	for key, value := range wrong {
		p := newParams(map[string]any{key: value})
		read(p)
		require.Equal(t, []string{key + " PARAMETER_INVALID"}, findingtest.Codes(p.err()), "%v", value)
	}
}

func TestCharm_unknown_without_Juju(t *testing.T) {
	for _, broken := range []string{"goal-state", "relation-ids"} {
		c := unit(t, &agent{broken: broken}).charm(t.Context())
		require.NotEmpty(t, c.Unknown, broken)
		assert.Contains(t, c.Unknown[0].Value, "connection is shut down")
	}
	c := unit(t, new(agent)).charm(t.Context())
	require.Len(t, c.Unknown, 1)
	assert.Equal(t, "OVN_Southbound", c.Unknown[0].Name)
	require.Len(t, c.Units, 1)
	assert.NotEmpty(t, c.Units[0].Hostname)
}

// 002-13, 002-15. Juju checks most of the values; other clients may not.
func TestParams_gateways(t *testing.T) {
	p := newParams(asGiven(t, `{"network": "physnet1, physnet2", "max-moves": 3, "seed": 7, "wait": 5, "dry-run": true,
		"scheduler": "random", "format": "yaml", "review-id": "v1", "target-revision": "last-site-action",
		"allow-intermediate-commits": true}`))
	assert.Equal(t, gateway.Request{
		Options: schedule.Options{Networks: []string{"physnet1", "physnet2"}, MaxMoves: 3, Scheduler: schedule.Random},
		Seed:    7, Wait: 5 * time.Second, DryRun: true, ReviewID: "v1", Target: journal.Last, AllowIntermediate: true,
	}, p.gateways())
	require.NoError(t, p.err())
	assert.Equal(t, "yaml", p.format)
	u := unit(t, new(agent))
	assert.Equal(t, "juju run ovn-central/0 rebalance-gateways network='physnet1, physnet2' max-moves=3 "+
		"target-revision=last-site-action review-id=v1 allow-intermediate-commits=true i-really-mean-it=true",
		u.Env.Version.Render(u.again("rebalance-gateways", p, moving, "i-really-mean-it")),
		"the confirmed command plans the same")
	assert.Equal(t, "juju run ovn-central/0 rebalance-gateways network='physnet1, physnet2' max-moves=3 "+
		"target-revision=last-site-action allow-intermediate-commits=true scheduler=random seed=7 "+
		"i-really-mean-it=true review-id=v2", u.reviewed("rebalance-gateways", p, p.gateways(), "v2"),
		"a dry run that checked one plan names the plan that it has shown")
	assert.Equal(t, gateway.Request{Seed: 1, Wait: time.Minute, Options: schedule.Options{Networks: []string{}}},
		newParams(nil).gateways())

	requireInvalid(t, asGiven(t, `{"max-moves": -1, "wait": 601, "seed": "many", "scheduler": "odd", "dry-run": "yes",
		"network": true, "format": "xml", "review-id": true, "target-revision": true,
		"allow-intermediate-commits": "true"}`), func(p *params) { p.gateways() })
}

func TestGateways_silent_databases_fail_in_one_line(t *testing.T) {
	for _, name := range []string{"gateway-status", "gateway-history", "reschedule-gateways", "rebalance-gateways"} {
		a := &agent{}
		require.NoError(t, Run(t.Context(), unit(t, a), name))
		assert.Contains(t, a.failed, "unix:", name)
		assert.NotContains(t, a.failed, "\n", name)
	}
}

// Juju accepts no more than 128 kB in one result.
func TestShown_long_plan_is_shortened(t *testing.T) {
	var p schedule.Plan
	for n := range 5000 {
		name := fmt.Sprintf("lrp-%04d", n)
		row := schedule.Row{Chassis: "gw1", After: &n, Reason: strings.Repeat("r", 35)}
		p.Changes = append(p.Changes, schedule.Change{Group: name, Rows: []schedule.Row{row}})
		p.Findings = append(p.Findings, finding.About(finding.GatewayMisplaced, name, finding.Args{Value: "gw1"}))
	}
	p.Operation, p.Cost.Gateways = "reschedule", 5000
	for _, format := range []string{"text", "yaml", "json"} {
		text, err := shown(format, p, document.Plan)
		require.NoError(t, err)
		assert.Less(t, len(text), juju.MaxArgument, format)
		assert.Greater(t, len(text), room/2, format)
		assert.Contains(t, text, "lrp-0029", format)
		assert.Regexp(t, "more|omitted", text, format)
	}
	text, err := shown("text", p, document.Plan)
	require.NoError(t, err)
	more := regexp.MustCompile(`  … and (\d+) more\n\nproblems(?s:.*)  … and (\d+) more\n`).FindStringSubmatch(text)
	require.NotEmpty(t, more, text)
	assert.Equal(t, more[1], more[2])
	assert.Equal(t, strconv.Itoa(5000-strings.Count(text, "hosted on")), more[1], "all are counted")
}

// S1, S2: an answer covers all chassis, however many there are and whatever their names are.
func TestShown_nodes_are_counted_in_every_format(t *testing.T) {
	t.Parallel()
	var r maintenance.Report
	for n := range 1104 {
		r.Nodes = append(r.Nodes, maintenance.Node{
			Chassis: fmt.Sprintf("c%04d", n), Hostname: strings.Repeat("h", foreign.MaxName), Life: maintenance.Up,
			Holds: []maintenance.Hold{}, Lost: []string{},
		})
	}
	r.Nodes[1103].First, r.Nodes[1103].Backups = 40, 3
	r.Nodes[1102].Lost = slices.Repeat([]string{"lrp-7f235dfb-78bd-4741-85ca-b6b231396f8c"}, 10_000)
	for _, format := range []string{"text", "yaml", "json"} {
		text, err := shown(format, r, document.Nodes)
		require.NoError(t, err)
		assert.LessOrEqual(t, len(text), room)
		assert.Greater(t, len(text), room/2, format)
		assert.Contains(t, text, "c1103", "it hosts gateways")
		assert.Contains(t, text, "c1102")
		assert.Regexp(t, `"?omitted"?: \d+|… and \d+ more nodes`, text)
	}
}

func TestGateways_misplaced_ports_are_listed_up_to_limit(t *testing.T) {
	ports := slices.Repeat([]string{"lrp-1-of-a-router-with-a-long-name"}, 5000)
	assert.Equal(t, ports[0]+"\n", named(ports[:1]))
	text := named(ports)
	assert.Less(t, len(text), juju.MaxArgument)
	assert.Regexp(t, `… and \d+ more\n$`, text)
}
