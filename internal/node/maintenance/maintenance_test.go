package maintenance_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/foreign"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/goldentest"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
	"github.com/ovn-central/ovn-central-operator/internal/render"
)

var at = time.Date(2026, 11, 20, 3, 15, 7, 0, time.UTC)

// seen is a cloud of two gateway chassis, one of which is drained, a compute node with a dead ovn-controller, and a
// compute node that is stopped.
func seen() maintenance.Seen {
	ids := map[string]string{
		"ovn-central:hold/c1/nowhere": "garbage", "ovn-central:maintenance/c3": "false", "ovn-central:drain/c9": "garbage",
	}
	add := func(c maintenance.Change) {
		for key, value := range c.Set {
			ids[key] = value
		}
	}
	note := maintenance.Note{
		By: "ovn-central/0, action 12", At: at.Add(-time.Hour), Reason: "new disk", Hostname: "gone.maas",
	}
	add(maintenance.Cordon("c2", note))
	add(maintenance.Cordon("c4", note))
	add(maintenance.AddHold("c2", "ovn-bgp-agent",
		maintenance.Note{By: "ubuntu@admin", At: at.Add(-90 * time.Minute), Reason: "routes"}))
	ids["ovn-central:drain/c2"] = `{"by":"ovn-central/0, action 12",` +
		`"at":"2026-11-20T02:15:07Z","timeout":3600,"grace-period":1800}`
	group := func(name string, chassis ...string) schedule.Group {
		g := schedule.Group{Name: name, Ports: []schedule.Port{{Name: name, Active: chassis[0]}}}
		for i, c := range chassis {
			g.Candidates = append(g.Candidates, schedule.Candidate{Chassis: c, Priority: len(chassis) - i})
		}
		return g
	}
	return maintenance.Seen{
		Records: maintenance.ParseRecords(ids),
		State: schedule.State{
			Chassis: []schedule.Chassis{
				{Name: "c1", Hostname: "one.maas", Gateway: true},
				{Name: "c2", Hostname: "two.maas", Gateway: true},
				{Name: "c3", Hostname: "three.maas", Unresponsive: true},
				{Name: "x1", Remote: true},
			},
			Groups: []schedule.Group{
				group("lrp-1", "c1", "c2"), group("lrp-2", "c2", "c1"), group("lrp-3", "c1", "c3"), group("lrp-4", "c8", "c1"),
			},
			Pinned: []schedule.Pinned{{Name: "gr", Chassis: "c1"}, {Name: "gr-off", Chassis: "c2", Disabled: true}},
		},
		Bindings: []maintenance.Binding{
			{Port: "vm-4", Chassis: "c3"},
			{Port: "vm-1", Chassis: "c3"},
			{Port: "vm-3", Chassis: "c3"},
			{Port: "vm-2", Chassis: "c3"},
			{Port: "vip", Type: "virtual", Chassis: "c3"},
			{Port: "cr-lrp-2", Type: "chassisredirect", Chassis: "c2"},
			{Port: "cr-lrp-1", Type: "chassisredirect", Chassis: "c1"},
			{Port: "bm", Type: "external", Chassis: "c1"},
			{Port: "gr", Type: "l3gateway", Chassis: "c1"},
			{Port: "p", Type: "patch"},
			{Port: "v", Type: "vtep", Chassis: "c1"},
		},
		Charm:    maintenance.Charm{Units: []maintenance.Unit{{Name: "ovn-central/2", Hostname: "ONE"}}},
		Answered: map[string]time.Time{"c1": at.Add(-12 * time.Second), "c3": at.Add(-72 * time.Hour)},
	}
}

// OVN binds a port of type l3gateway for each side of a connection of a pinned router.
func TestNodes_pinned_router_is_held_once(t *testing.T) {
	t.Parallel()
	s := maintenance.Seen{State: schedule.State{
		Chassis: []schedule.Chassis{{Name: "c1"}},
		Pinned: []schedule.Pinned{{
			Name: "gr", Kind: schedule.PinnedRouter, Chassis: "c1", Active: "c1",
			Ports: []string{"rp-ext"}, Peers: []string{"ls-rp-ext"},
		}},
	}}
	for _, port := range []string{"ls-rp-ext", "rp-ext", "another"} {
		s.Bindings = append(s.Bindings, maintenance.Binding{Port: port, Type: "l3gateway", Chassis: "c1"})
	}
	h := maintenance.Nodes(s)[0].Held(maintenance.HoldGateway)
	assert.Equal(t, 2, h.Count)
	assert.Equal(t, []string{"another", "gr"}, h.Examples)
}

func TestHolds_ports_by_number(t *testing.T) {
	t.Parallel()
	s := maintenance.Seen{State: schedule.State{Chassis: []schedule.Chassis{{Name: "c1"}}}}
	for _, port := range []string{"cr-lrp-10", "cr-lrp-2", "cr-lrp-1"} {
		s.Bindings = append(s.Bindings, maintenance.Binding{Port: port, Type: "chassisredirect", Chassis: "c1"})
	}
	assert.Equal(t, []string{"cr-lrp-1", "cr-lrp-2", "cr-lrp-10"}, maintenance.Nodes(s)[0].Held(maintenance.HoldGateway).Examples)
}

// Programs read these documents: keys and types stay.
func TestNodes_documents(t *testing.T) {
	t.Parallel()
	nodes := maintenance.Nodes(seen())
	for i, n := range nodes {
		if operation, _ := n.NextOperation(); operation != "" {
			nodes[i].Next = "juju run ovn-central/0 " + operation + " node=" + n.Name()
		}
	}
	two, refused := maintenance.Resolve(nodes, "two")
	require.Nil(t, refused)
	for name, d := range map[string]any{
		"nodes": maintenance.Report{At: at, Nodes: nodes},
		"node":  maintenance.Report{At: at, Nodes: []maintenance.Node{two}},
		"outage": maintenance.Report{
			At: at, Nodes: []maintenance.Node{two},
			Outage: &schedule.Outage{Code: finding.NoGatewayBound, Gateways: 3, Chassis: 2},
		},
		"none": maintenance.Report{At: at, Nodes: []maintenance.Node{}},
		"success": answer.New(answer.Success, "two.maas is drained",
			answer.Message{Message: "9 gateways moved", Kind: answer.MessageStep, Name: "drain"},
			answer.Message{Message: "juju run ovn-central/0 undrain node=two.maas", Kind: answer.MessageNext, Name: "undrain"}),
		"conflict": answer.New(answer.Conflict, "two.maas cannot be removed",
			answer.Message{
				Message: two.Holds[0].Detail(at, time.Time{}), Error: true, Kind: answer.MessageHold, Name: "gateway",
			}),
		"unfinished": answer.New(answer.DrainNodeError, "two.maas is not drained yet",
			answer.Message{Message: "release", Kind: answer.MessageNext, Name: "release"},
			answer.Message{Message: "undrain", Kind: answer.MessageNext, Name: "undrain", When: "to put it back"},
			answer.Message{Message: "drain", Kind: answer.MessageNext, Name: "drain"}),
	} {
		if status, is := d.(answer.Status); is {
			goldentest.Equal(t, name+".txt", document.Answer(status))
		} else {
			goldentest.Equal(t, name+".txt", document.Nodes(d.(maintenance.Report)))
		}
		if name != "node" { // node has the keys of nodes
			goldentest.Document(t, name, d)
		}
	}
}

// S2: the least important nodes are omitted, and counted in every form.
func TestShortened(t *testing.T) {
	t.Parallel()
	var nodes []maintenance.Node
	for i := range 1100 {
		nodes = append(nodes, maintenance.Node{
			Chassis: fmt.Sprintf("c%04d", i), Life: maintenance.Up, Holds: []maintenance.Hold{}, Lost: []string{},
		})
	}
	nodes[1050].First, nodes[1060].Cordon, nodes[1070].Drain = 1, new(maintenance.Note), new(maintenance.Drain)
	nodes[1080].Life, nodes[1090].Lost = maintenance.Unresponsive, []string{"lrp-1", "lrp-2"}
	short := maintenance.Report{At: at, Nodes: nodes}.Shortened(6)
	var left []string
	for _, n := range short.Nodes {
		left = append(left, n.Chassis)
	}
	assert.Equal(t, []string{"c0000", "c1050", "c1060", "c1070", "c1080", "c1090"}, left)
	assert.Equal(t, 1094, short.Omitted)
	assert.Contains(t, document.Nodes(short), " 1094 ")
	for _, write := range []func(any) (string, error){render.JSON, render.YAML} {
		text, err := write(short)
		require.NoError(t, err)
		assert.Regexp(t, `"?omitted"?: 1094`, text)
	}
	none := document.Nodes(maintenance.Report{At: at, Nodes: nodes}.Shortened(0))
	assert.NotContains(t, none, document.Nodes(maintenance.Report{}))
	assert.Contains(t, none, " 1100 ")

	one := maintenance.Report{At: at, Nodes: nodes[1090:1091]}.Shortened(1)
	assert.Contains(t, document.Nodes(one), "2 gateways", "all of them are counted")
	assert.Contains(t, document.Nodes(one),
		": lrp-1\n… and 1 more ")
	assert.Equal(t, 1, one.Nodes[0].OmittedLost)
	assert.Len(t, nodes[1090].Lost, 2, "the whole is not touched")
}

func TestCheckHoldName(t *testing.T) {
	t.Parallel()
	assert.Nil(t, maintenance.CheckHoldName("ovn-bgp-agent"))
	for _, name := range []string{"", "a/b", "A", "nova-compute", "gateway", "external", "ovn-central", "-x"} {
		assert.Equal(t, 400, maintenance.CheckHoldName(name).Code, name)
	}
	assert.Nil(t, maintenance.CheckHoldName(strings.Repeat("x", 63)))
	assert.Less(t, len(maintenance.CheckHoldName(strings.Repeat("x", 20000)).Message), 200)
}

// 002-7.
func TestClusterHealth(t *testing.T) {
	t.Parallel()
	nb := maintenance.DatabaseHealth{Name: "OVN_Northbound", Accessible: true, HasRaftLeader: true, Members: 3, Up: 2}
	sb := maintenance.DatabaseHealth{Name: "OVN_Southbound", Accessible: true, HasRaftLeader: true, Members: 3, Up: 1}
	all := maintenance.ClusterHealth([]maintenance.DatabaseHealth{nb, sb}, 0)
	assert.Equal(t, 200, all.Code, "unhealthy is an answer")
	goldentest.Equal(t, "health.txt", document.Answer(all))
	sb.Accessible, sb.Why = false, finding.Quote("not running")
	none := maintenance.ClusterHealth([]maintenance.DatabaseHealth{nb, sb}, 0)
	assert.Equal(t, answer.ClusterNotAccessible, none.Reason)
	assert.Equal(t, 1, none.Details.ErrorCount)
	text, err := render.JSON(none)
	require.NoError(t, err)
	goldentest.Equal(t, "health.json", text+"\n")
	assert.True(t, nb.Healthy(2))
	assert.False(t, nb.Healthy(3), "min-members")
	assert.True(t, maintenance.AllHealthy([]maintenance.DatabaseHealth{nb}, 0))
	nb.HasRaftLeader = false
	assert.False(t, nb.Healthy(0))
	assert.False(t, maintenance.AllHealthy(nil, 0), "nothing is known")
	assert.Equal(t, answer.ClusterNotAccessible, maintenance.ClusterHealth(nil, 0).Reason)
}

const hostile = "\x1b[2Ja\r\nnext: juju remove-unit ovn-central/0"

// Any client of NB may write these records, so their texts are cleaned (R18).
func FuzzParseRecords(f *testing.F) {
	note := `{"by":"\u001b[2Jx","reason":"` + strings.Repeat("r", 90_000) + `","hostname":"` +
		strings.Repeat("h", 110_000) + `","members":[{"database":"a\n","id":"b\r","address":"c\u0000"}]}`
	for _, key := range []string{
		"maintenance/c1", "maintenance/" + hostile, "hold/c1/" + hostile, "hold/" + hostile + "/a", "hold/c1/", "hold/",
		"drain/c1", "drain/" + hostile, "drain/" + strings.Repeat("c", 300),
	} {
		f.Add("ovn-central:"+key, note, `["a\u001b"]`)
		f.Add("ovn-central:"+key, "garbage", "garbage")
	}
	f.Fuzz(func(t *testing.T, key, value, hosted string) {
		ids := map[string]string{key: value}
		if chassis, is := strings.CutPrefix(key, "ovn-central:maintenance/"); is {
			ids["ovn-central:maintenance-by/"+chassis], ids["ovn-central:maintenance-hosts/"+chassis] = value, hosted
		}
		r, cleaned := maintenance.ParseRecords(ids), maintenance.ParseRecords(ids)
		foreign.Texts(&cleaned)
		assert.Equal(t, r, cleaned)
		for _, n := range maintenance.Nodes(maintenance.Seen{Records: r}) {
			assert.True(t, foreign.IsName(n.Name()))
			assert.True(t, foreign.IsName(n.Chassis))
		}
		for _, holds := range r.Holds {
			for _, h := range holds {
				assert.True(t, foreign.IsName(h.Name+h.By+h.Hostname) || len(h.Name+h.By+h.Hostname) > foreign.MaxName)
			}
		}
	})
}

// A hold with an unclean name is released by the name that was printed.
func TestRelease_by_shown_name(t *testing.T) {
	t.Parallel()
	name := strings.ReplaceAll(hostile, "/", "_") // the part before the last slash is the chassis
	key := "ovn-central:hold/c1/" + name
	r := maintenance.ParseRecords(map[string]string{key: `{"by":"x"}`})
	require.Len(t, r.Holds["c1"], 1)
	h := r.Holds["c1"][0]
	assert.Equal(t, foreign.Name(name), h.Name)
	assert.Equal(t, []string{key}, maintenance.Release("c1", h).Drop)
	assert.Contains(t, maintenance.Erase("c1", r).Drop, key)
}

func TestSilence(t *testing.T) {
	t.Parallel()
	// Each observation is at a second, with the nb_cfg of the node and of another one. 7 was requested.
	type seen struct {
		at, its, other int64
		verdict        maintenance.Verdict
	}
	for name, looks := range map[string][]seen{
		"it follows nothing for 180 s": {
			{0, 5, 6, maintenance.Undecided}, {179, 5, 7, maintenance.Undecided}, {180, 5, 7, maintenance.Unreachable},
		},
		"it follows late":              {{0, 5, 7, maintenance.Undecided}, {170, 7, 7, maintenance.Reachable}},
		"it follows at once":           {{0, 7, 7, maintenance.Reachable}},
		"it is slow, and behind":       {{0, 5, 7, maintenance.Undecided}, {170, 6, 7, maintenance.Reachable}},
		"it began anew":                {{0, 5, 7, maintenance.Undecided}, {170, 0, 7, maintenance.Reachable}},
		"no other follows either":      {{0, 5, 5, maintenance.Undecided}, {180, 5, 5, maintenance.Unprovable}},
		"it has no row to follow with": {{0, -1, 7, maintenance.Unprovable}},
		"its row is gone": {
			{0, 5, 7, maintenance.Undecided}, {170, -1, 7, maintenance.Unprovable},
		},
		"it is ahead, and followed before": {
			{0, 9, 7, maintenance.Undecided}, {180, 9, 7, maintenance.Unreachable},
		},
		"the other is ahead, and followed before": {{0, 5, 9, maintenance.Undecided}, {180, 5, 9, maintenance.Unprovable}},
		"the other has followed, and more was asked": {
			{0, 5, 7, maintenance.Undecided}, {180, 5, 6, maintenance.Unreachable},
		},
		"no other has a row": {
			{0, 5, -1, maintenance.Undecided}, {180, 5, -1, maintenance.Unreachable},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := maintenance.Silence{Chassis: "c1"}
			for _, l := range looks {
				signs := []maintenance.Sign{
					{Chassis: "c1", Known: l.its >= 0, Follows: l.its, Responds: l.its == 7},
					{Chassis: "c2", Known: l.other >= 0, Follows: l.other, Responds: l.other == 7},
				}
				assert.Equal(t, l.verdict, s.Observe(signs, time.Unix(l.at, 0)), "at %d", l.at)
			}
		})
	}
}

func TestState_and_next_operation(t *testing.T) {
	t.Parallel()
	cordoned, drained, retired := new(maintenance.Note), new(maintenance.Drain), &maintenance.Drain{Retired: true}
	for name, test := range map[string]struct {
		node              maintenance.Node
		state, next, hold string
	}{
		"in use":         {maintenance.Node{First: 1}, "in use", "", ""},
		"absent":         {maintenance.Node{Life: maintenance.Absent}, "-", "remove-node", ""},
		"absent, used":   {maintenance.Node{Life: maintenance.Absent, Backups: 1}, "-", "", ""},
		"cordoned":       {maintenance.Node{Cordon: cordoned, First: 1}, "cordoned", "uncordon", ""},
		"drained":        {maintenance.Node{Drain: drained, Backups: 1}, "drained", "undrain", ""},
		"retired":        {maintenance.Node{Drain: retired, Life: maintenance.Up}, "drained", "", ""},
		"retired, off":   {maintenance.Node{Drain: retired, Life: maintenance.Unresponsive}, "drained", "remove-node", ""},
		"retired, used":  {maintenance.Node{Drain: retired, Life: maintenance.Unresponsive, Backups: 1}, "drained", "", ""},
		"drained, off":   {maintenance.Node{Drain: drained, Life: maintenance.Unresponsive}, "drained", "undrain", ""},
		"undrained":      {maintenance.Node{Drain: &maintenance.Drain{Undrain: true}, First: 1}, "undraining", "undrain", ""},
		"hosts":          {maintenance.Node{Drain: drained, First: 1, Holds: []maintenance.Hold{{Name: "bgp"}}}, "draining", "drain", ""},
		"set hold":       {maintenance.Node{Drain: drained, Holds: []maintenance.Hold{{Name: "bgp"}}}, "draining", "release", "bgp"},
		"virtual server": {maintenance.Node{Drain: drained, Holds: []maintenance.Hold{{Name: maintenance.HoldCompute, Derived: true}}}, "draining", "drain", ""},
		"unit":           {maintenance.Node{Drain: drained, Holds: []maintenance.Hold{{Name: maintenance.HoldMember, Derived: true}}}, "drained", "undrain", ""},
	} {
		next, hold := test.node.NextOperation()
		assert.Equal(t, []string{test.state, test.next, test.hold}, []string{test.node.State(), next, hold}, name)
	}
}
