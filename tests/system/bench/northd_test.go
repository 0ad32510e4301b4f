package bench

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/node"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdbtest"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
	"github.com/ovn-central/ovn-central-operator/tests/system/transact"
)

const each = gateways / hosts

// written is the default of GATEWAYS for a cloud that is written through ovn-northd.
const written = 500

// northdPatience bounds a wait for ovn-northd: its first run takes 27 s for 10,000 routers on an idle machine.
const northdPatience = 15 * time.Minute

// playInterval is the pause of the played ovn-controllers, which leaves SB time for others.
const playInterval = 100 * time.Millisecond

// BenchmarkWriteThroughNorthd writes through a real ovn-northd: every gateway of a cloud gets one more candidate, in
// batches that follow it. Bound: a third of the time that batches of 100 take, each as long as the first one.
func BenchmarkWriteThroughNorthd(b *testing.B) {
	for b.Loop() {
		c := newRouted(b)
		c.populate(candidates - 1)
		c.write()
	}
}

// BenchmarkDrainThroughNorthd drains a chassis of such a cloud through a real ovn-northd, and puts it back.
// ovn-controllers are played: each chassis follows nb_cfg, and the drained one's gateways are rebound as soon as SB has
// it first for none. Bound: 3 times one write through ovn-northd, the least of three signs of life.
func BenchmarkDrainThroughNorthd(b *testing.B) {
	for b.Loop() {
		c := newRouted(b)
		c.populate(candidates)
		c.drain()
	}
}

// routed is a cloud with an ovn-northd: 500 gateways on 10 chassis (rows), or GATEWAYS of them, 50 a chassis.
type routed struct {
	b               *testing.B
	nb, sb          string
	gateways, hosts int
}

func newRouted(b *testing.B) *routed {
	b.Helper()
	count := written
	if text := os.Getenv("GATEWAYS"); text != "" {
		var err error
		count, err = strconv.Atoi(text)
		require.NoError(b, err)
	}
	nb, sb := databases(b)
	return &routed{b: b, nb: nb, sb: sb, gateways: count, hosts: count / each}
}

func (c *routed) populate(candidates int) {
	fill(c.b, c.sb, "OVN_Southbound", [][]transact.Operation{chassisRows(c.hosts)})
	fill(c.b, c.nb, "OVN_Northbound", routers(c.gateways, c.hosts, candidates))
	dir := c.b.TempDir()
	ovsdbtest.Run(c.b, nil, "ovn-northd", "-vconsole:off", "--unixctl="+filepath.Join(dir, "ctl"), "--ovnnb-db=unix:"+c.nb, "--ovnsb-db=unix:"+c.sb)
	s := c.service(nil)
	begun := time.Now()
	require.NoError(c.b, s.SyncNorthd(c.b.Context()))
	c.b.Logf("%d gateways on %d chassis: first run of ovn-northd %s", c.gateways, c.hosts, time.Since(begun).Round(time.Millisecond))
	c.bindAll()
	ctx, cancel := context.WithCancel(c.b.Context())
	followed := make(chan error, 1)
	go func() { followed <- c.playSigns(ctx) }()
	c.b.Cleanup(func() {
		cancel()
		require.ErrorIs(c.b, <-followed, context.Canceled)
	})
}

func (c *routed) service(told func(line string)) *gateway.Service {
	s := &gateway.Service{
		Dialer: new(ovsdb.Dialer), NB: []string{"unix:" + c.nb}, SB: []string{"unix:" + c.sb}, By: "a benchmark", Now: time.Now, NorthdTimeout: northdPatience,
		Progress: func(_ context.Context, line string) {
			if told != nil {
				told(line)
			}
		},
	}
	c.b.Cleanup(s.Close)
	return s
}

func (c *routed) write() {
	var batches []time.Time
	s := c.service(func(line string) {
		c.b.Logf("%s %s", time.Now().Format("04:05.000"), line)
		if strings.HasSuffix(line, " written") {
			batches = append(batches, time.Now())
		}
	})
	begun := time.Now()
	operation, err := s.Reschedule(c.b.Context(), gateway.Request{})
	require.NoError(c.b, err)
	require.NoError(c.b, operation.Apply(c.b.Context()))
	require.NoError(c.b, s.SyncNorthd(c.b.Context()))
	took := time.Since(begun)
	require.GreaterOrEqual(c.b, len(batches), 2)
	// From the first batch's writing to the second's: what ovn-northd takes for one of 100.
	fixed := batches[1].Sub(batches[0]) * time.Duration(c.gateways/100)
	c.b.ReportMetric(float64(len(batches)), "batches")
	c.b.ReportMetric(took.Seconds(), "s-batches")
	c.b.ReportMetric(float64(took)/float64(fixed), "batches-times-of-100")
}

// drain empties a chassis, and fills it again.
func (c *routed) drain() {
	chassis := id(0, 0)
	g := c.service(func(line string) { c.b.Logf("%s %s", time.Now().Format("04:05.000"), line) })
	one := time.Duration(1 << 62)
	for range 3 {
		begun := time.Now()
		require.NoError(c.b, g.SyncNorthd(c.b.Context()))
		took := time.Since(begun)
		c.b.Logf("a sign of life: %s", took.Round(time.Millisecond))
		one = min(one, took)
	}
	before, err := g.Observe(c.b.Context())
	require.NoError(c.b, err)
	ctx, cancel := context.WithCancel(c.b.Context())
	defer cancel()
	claimed := make(chan error, 1)
	go func() { claimed <- c.playClaims(ctx, chassis) }()
	s := &node.Service{Gateways: g, Command: func(c command.Command) string { return c.Action + " " + c.Params[0].Value }}
	begun := time.Now()
	said := s.Drain(c.b.Context(),
		node.Request{Node: chassis, Confirmed: true, Limits: maintenance.Limits{Timeout: northdPatience}})
	took := time.Since(begun)
	require.Equal(c.b, answer.Success, said.Reason, document.Answer(said))
	require.NoError(c.b, <-claimed)
	c.b.Logf("drained in %s", took.Round(time.Millisecond))
	after, err := g.Observe(c.b.Context())
	require.NoError(c.b, err)
	c.requireOnlyItsGatewaysMoved(chassis, before.State.Groups, after.State.Groups)
	c.b.ReportMetric(one.Seconds(), "s-one-write")
	c.b.ReportMetric(took.Seconds(), "s-drain")
	c.b.ReportMetric(float64(took)/float64(one), "drain-times-one-write")
	c.b.ReportMetric(float64(took-maintenance.SettledFor)/float64(one), "drain-before-it-settles-times-one-write")

	back := s.Undrain(c.b.Context(), node.Request{Node: chassis, Confirmed: true})
	require.Equal(c.b, answer.Success, back.Reason, document.Answer(back))
	again, err := g.Observe(c.b.Context())
	require.NoError(c.b, err)
	for i, x := range again.State.Groups {
		require.Equal(c.b, before.State.Groups[i].Ranked(), x.Ranked(), x.Name)
	}
}

// requireOnlyItsGatewaysMoved requires that the gateways of a drained chassis have moved to the least loaded chassis,
// that no other has moved, and that all have the same candidates.
func (c *routed) requireOnlyItsGatewaysMoved(drained string, before, after []schedule.Group) {
	load := map[[2]string]int{}
	for _, x := range after {
		load[[2]string{x.Ports[0].Network, x.Ranked()[0]}]++
	}
	moved := 0
	for i, x := range after {
		was, is, network := before[i].Ranked(), x.Ranked(), x.Ports[0].Network
		require.ElementsMatch(c.b, was, is, x.Name)
		if was[0] != drained {
			require.Equal(c.b, was[0], is[0], x.Name)
			continue
		}
		moved++
		for _, other := range is[:len(is)-1] { // the last one is the drained chassis
			require.LessOrEqual(c.b, load[[2]string{network, is[0]}], load[[2]string{network, other}]+1, x.Name)
		}
		require.Equal(c.b, drained, is[len(is)-1], x.Name)
	}
	require.Equal(c.b, each, moved)
}

// ask runs a transaction in SB.
func (c *routed) ask(ctx context.Context, operations ...transact.Operation) (rows [][]map[string]any, err error) {
	return transact.Do(ctx, c.sb, "OVN_Southbound", operations...)
}

// chassis returns the UUIDs of the chassis by name.
func (c *routed) chassis(ctx context.Context) (map[string]any, error) {
	rows, err := c.ask(ctx,
		transact.Operation{"op": "select", "table": "Chassis", "where": []any{}, "columns": []string{"_uuid", "name"}})
	if err != nil {
		return nil, err
	}
	uuids := map[string]any{}
	for _, r := range rows[0] {
		name, _ := r["name"].(string)
		uuids[name] = r["_uuid"]
	}
	return uuids, nil
}

// bindAll binds every gateway to its first candidate in one transaction, so that ovn-northd computes once.
func (c *routed) bindAll() {
	uuids, err := c.chassis(c.b.Context())
	require.NoError(c.b, err)
	rows, err := c.ask(c.b.Context(), transact.Operation{
		"op": "select", "table": "Port_Binding", "columns": []string{"_uuid", "logical_port"}, "where": []any{[]any{"type", "==", "chassisredirect"}},
	})
	require.NoError(c.b, err)
	ports := map[any]any{}
	for _, r := range rows[0] {
		ports[r["logical_port"]] = r["_uuid"]
	}
	require.Len(c.b, ports, c.gateways)
	var all []transact.Operation
	for n := range c.gateways {
		all = append(all, transact.Operation{
			"op": "update", "table": "Port_Binding", "where": []any{[]any{"_uuid", "==", ports["cr-lrp-"+id(2, n)]}},
			"row": map[string]any{"chassis": uuids[id(0, hostAmong(n, 0, c.hosts))]},
		})
	}
	_, err = c.ask(c.b.Context(), all...)
	require.NoError(c.b, err)
}

// playSigns makes each chassis report SB's nb_cfg in a transaction of its own, as ovn-controllers do.
func (c *routed) playSigns(ctx context.Context) error {
	last := -1.0
	for {
		rows, err := c.ask(ctx,
			transact.Operation{"op": "select", "table": "SB_Global", "where": []any{}, "columns": []string{"nb_cfg"}})
		if err != nil {
			return errors.Join(err, ctx.Err())
		}
		if now, _ := rows[0][0]["nb_cfg"].(float64); now != last {
			last = now
			for n := range c.hosts {
				if _, err := c.ask(ctx, transact.Operation{
					"op": "update", "table": "Chassis_Private", "where": []any{[]any{"name", "==", id(0, n)}},
					"row": map[string]any{"nb_cfg": int(now), "nb_cfg_timestamp": time.Now().UnixMilli()},
				}); err != nil {
					return errors.Join(err, ctx.Err())
				}
			}
		}
		if err := poll.Wait(ctx, playInterval); err != nil {
			return err
		}
	}
}

// playClaims rebinds the gateways of a chassis that is not the first candidate of any gateway.
func (c *routed) playClaims(ctx context.Context, chassis string) error {
	uuids, err := c.chassis(ctx)
	if err != nil {
		return err
	}
	for {
		led, err := c.ask(ctx, transact.Operation{
			"op": "select", "table": "HA_Chassis", "columns": []string{"_uuid"},
			"where": []any{[]any{"chassis", "==", uuids[chassis]}, []any{"priority", "==", candidates}},
		})
		if err != nil {
			return err
		}
		if len(led[0]) == 0 {
			_, err := c.ask(ctx, transact.Operation{
				"op": "update", "table": "Port_Binding", "where": []any{[]any{"chassis", "==", uuids[chassis]}}, "row": map[string]any{"chassis": uuids[id(0, 1)]},
			})
			return err
		}
		if err := poll.Wait(ctx, playInterval); err != nil {
			return err
		}
	}
}
