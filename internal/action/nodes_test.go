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
	"github.com/ovn-central/ovn-central-operator/internal/foreign"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/journal"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/node"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
)

// 002-2: the specification's defaults, and its names of what is etcd there.
func TestParametersOfADecommissionAreRead(t *testing.T) {
	t.Parallel()
	seconds := func(n int) time.Duration { return time.Duration(n) * time.Second }
	standard := node.Request{
		Node: "c1", Wait: time.Minute, Limits: maintenance.Limits{Timeout: seconds(3600), Grace: seconds(1800)}, Clear: seconds(1800), Member: seconds(1800), Ready: seconds(600),
	}
	for name, test := range map[string]struct {
		given  params
		differ func(*node.Request)
	}{
		"defaults": {params{}, func(*node.Request) {}},
		"its own names": {params{"clear-labels-timeout": json.Number("5"), "remove-member-timeout": json.Number("6"), "cluster-ready-timeout": json.Number("7")}, func(r *node.Request) {
			r.Clear, r.Member, r.Ready = seconds(5), seconds(6), seconds(7)
		}},
		"the specification's names": {params{"remove-etcd-timeout": json.Number("8"), "etcd-ready-timeout": json.Number("9")}, func(r *node.Request) {
			r.Member, r.Ready = seconds(8), seconds(9)
		}},
		"its own before the specification's": {params{"remove-etcd-timeout": json.Number("8"), "remove-member-timeout": json.Number("6"), "etcd-ready-timeout": json.Number("9"), "cluster-ready-timeout": json.Number("7")}, func(r *node.Request) {
			r.Member, r.Ready = seconds(6), seconds(7)
		}},
		"a shorter drain has a shorter grace period": {params{"drain-node-timeout": json.Number("100")}, func(r *node.Request) {
			r.Limits = maintenance.Limits{Timeout: seconds(100), Grace: seconds(50)}
		}},
		"both limits": {params{"drain-node-timeout": json.Number("100"), "drain-node-grace-period": json.Number("99")}, func(r *node.Request) {
			r.Limits = maintenance.Limits{Timeout: seconds(100), Grace: seconds(99)}
		}},
		"files are kept":    {params{"preserve-db": true}, func(*node.Request) {}},
		"files are dropped": {params{"preserve-db": false}, func(r *node.Request) { r.DropFiles = true }},
		"all else": {params{"min-members": json.Number("3"), "reason": " old ", "dry-run": true, "force": true, "i-really-mean-it": true}, func(r *node.Request) {
			r.MinMembers, r.Reason, r.DryRun, r.Force, r.Confirmed = 3, "old", true, true, true
		}},
	} {
		want := standard
		test.differ(&want)
		test.given["node"] = "c1"
		given, _, err := test.given.node()
		require.NoError(t, err, name)
		assert.Equal(t, want, given, name)
	}
}

func TestParametersOfOperationsOnNodesAreRead(t *testing.T) {
	t.Parallel()
	given, format, err := params{
		"node": "c1", "name": "bgp", "reason": "x", "format": "json", "timeout": json.Number("60"), "grace-period": json.Number("0"), "wait": json.Number("0"),
	}.node()
	require.NoError(t, err)
	assert.Equal(t, maintenance.Limits{Timeout: time.Minute}, given.Limits)
	assert.Equal(t, []string{"c1", "bgp", "x", "json"}, []string{given.Node, given.Hold, given.Reason, format})
	assert.Zero(t, given.Wait)
	given, _, err = params{}.node()
	require.NoError(t, err)
	assert.Equal(t, maintenance.Limits{Timeout: maintenance.DefaultTimeout, Grace: maintenance.DefaultGrace}, given.Limits)
	assert.Equal(t, time.Minute, given.Wait)

	for key, value := range map[string]any{
		"node": true, "name": true, "reason": []any{}, "format": false, "dry-run": "yes", "timeout": "1h", "grace-period": json.Number("-1"),
		"wait": json.Number("601"), "drain-node-timeout": json.Number("9001"), "drain-node-grace-period": "x", "clear-labels-timeout": json.Number("1.5"),
		"remove-member-timeout": true, "remove-etcd-timeout": true, "cluster-ready-timeout": true, "etcd-ready-timeout": true, "min-members": json.Number("101"),
		"force": "true", "i-really-mean-it": json.Number("1"), "preserve-db": "no",
	} {
		_, _, err := params{key: value}.node()
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

func TestParametersOfGatewaysAreRead(t *testing.T) {
	r, format, err := params{
		"network": "physnet1, physnet2", "max-moves": json.Number("3"), "seed": json.Number("7"), "wait": json.Number("5"),
		"dry-run": true, "scheduler": "random", "format": "yaml",
	}.gateways()
	require.NoError(t, err)
	assert.Equal(t, []string{"physnet1", "physnet2"}, r.Options.Networks)
	assert.Equal(t, 3, r.Options.MaxMoves)
	assert.Equal(t, schedule.Random, r.Options.Scheduler)
	assert.Equal(t, uint64(7), r.Seed)
	assert.Equal(t, 5*time.Second, r.Wait)
	assert.True(t, r.DryRun)
	assert.False(t, r.Confirmed)
	assert.Equal(t, "yaml", format)

	r, format, err = params{}.gateways()
	require.NoError(t, err)
	assert.Empty(t, r.Options.Networks)
	assert.Equal(t, time.Minute, r.Wait)
	assert.Empty(t, format)
}

// Juju checks most of this, other clients may not.
func TestParametersOfGatewaysThatAreWrongAreNamed(t *testing.T) {
	for want, p := range map[string]params{
		"parameter max-moves can't be used (it is -1: it takes a whole number from 0 to 2147483647": {"max-moves": json.Number("-1")},
		"parameter max-moves can't be used (it is 1.5: it takes a whole number":                     {"max-moves": json.Number("1.5")},
		"parameter wait can't be used (it is 601: it takes a whole number from 0 to 600":            {"wait": json.Number("601")},
		"parameter seed can't be used (it is \"many\": it takes a whole number":                     {"seed": "many"},
		`parameter scheduler can't be used (it is "odd": it takes one of least-loaded, random)`:     {"scheduler": "odd"},
		"parameter dry-run can't be used (it is \"yes\": it takes true or false":                    {"dry-run": "yes"},
		"parameter network can't be used (it is true: it takes a text":                              {"network": true},
	} {
		_, _, err := p.gateways()
		require.ErrorContains(t, err, want)
	}
	_, err := params{"format": "xml"}.format()
	require.ErrorContains(t, err, "parameter format can't be used")
}

func TestGateways_silent_databases_fail_in_one_line(t *testing.T) {
	for _, name := range []string{"gateway-status", "gateway-history", "reschedule-gateways", "rebalance-gateways"} {
		a := &agent{}
		require.NoError(t, Run(t.Context(), unit(t, a), name))
		assert.Contains(t, a.failed, "cannot connect to unix:", name)
	}
}

// Juju takes no more than 128 kB in one result.
func TestPlansThatAreTooLongAreShortenedAndSaySo(t *testing.T) {
	var p schedule.Plan
	for n := range 5000 {
		name := fmt.Sprintf("lrp-%04d", n)
		p.Changes = append(p.Changes, schedule.Change{Group: name, Rows: []schedule.Row{{Chassis: "gw1", After: &n, Reason: "restored: it was so before the plan"}}})
		p.Findings = append(p.Findings, finding.New(finding.GatewayMisplaced, finding.Subject{Name: name}, finding.Args{Value: "gw1"}))
	}
	p.Operation, p.Cost.Gateways = "reschedule", 5000
	for _, format := range []string{"text", "yaml", "json"} {
		text, err := shown(format, p, document.Plan)
		require.NoError(t, err)
		assert.Less(t, len(text), juju.MaxArgument, format)
		assert.Contains(t, text, "lrp-0029", format)
		assert.Regexp(t, "more|omitted", text, format)
	}
	text, err := shown("text", p, document.Plan)
	require.NoError(t, err)
	more := regexp.MustCompile(`  … and (\d+) more\n\nproblems(?s:.*)  … and (\d+) more\n`).FindStringSubmatch(text)
	require.NotEmpty(t, more, text)
	assert.Equal(t, more[1], more[2])
	assert.Equal(t, "5000", fmt.Sprint(strings.Count(text, "hosted on")+atoi(t, more[1])), "all are counted")
	assert.Greater(t, len(text), room/2, "as many are shown as there is room for")

	whole, err := shown("text", schedule.Plan{Operation: "reschedule", Changes: p.Changes[:20], Cost: schedule.Cost{Gateways: 20}}, document.Plan)
	require.NoError(t, err)
	assert.NotContains(t, whole, "more")
}

// S1, S2: however many chassis there are, and whatever they call themselves, an answer is about all of them.
func TestNodesThatAreTooManyAreCountedInEveryFormat(t *testing.T) {
	t.Parallel()
	var r maintenance.Report
	for n := range 1104 {
		r.Nodes = append(r.Nodes, maintenance.Node{Chassis: fmt.Sprintf("c%04d", n), Hostname: strings.Repeat("h", foreign.MaxName), Life: maintenance.Up, Holds: []maintenance.Hold{}, Lost: []string{}})
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
	assert.Equal(t, "there are no nodes: SB has no chassis\n", document.Nodes(maintenance.Report{}))
}

func atoi(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}

func TestGateways_misplaced_ports_are_listed_up_to_limit(t *testing.T) {
	ports := slices.Repeat([]string{"lrp-1: not bound to any chassis; expected gw1"}, 5000)
	assert.Equal(t, "lrp-1: not bound to any chassis; expected gw1\n", named(ports[:1]))
	text := named(ports)
	assert.Less(t, len(text), juju.MaxArgument)
	assert.Regexp(t, `… and \d+ more\n$`, text)
}
