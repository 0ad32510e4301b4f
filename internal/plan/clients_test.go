package plan_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
)

func TestClientsSettled(t *testing.T) {
	t.Parallel()
	same := func(look ovndb.Clients, n int) (all []ovndb.Clients) {
		for range n {
			all = append(all, look)
		}
		return all
	}
	idle, busy := ovndb.Clients{Connected: 100}, ovndb.Clients{Connected: 100, Busy: 60}
	for name, c := range map[string]struct {
		looks []ovndb.Clients
		want  bool
	}{
		"not looked yet":            {nil, false},
		"no_clients":                {same(ovndb.Clients{}, 1), true},
		"all went":                  {append(same(busy, 5), ovndb.Clients{}), true},
		"too few looks":             {same(idle, plan.SettledObservations-1), false},
		"idle":                      {same(idle, plan.SettledObservations), true},
		"all are sent the database": {same(busy, 50), false},
		"were, and now have it":     {append(same(busy, 50), idle), true},
		"one comes":                 {append(same(idle, 50), ovndb.Clients{Connected: 101}), false},
		"one came before": {
			append(same(ovndb.Clients{Connected: 99}, 5), same(idle, plan.SettledObservations)...), true,
		},
		"some go":                           {append(same(idle, 5), ovndb.Clients{Connected: 90}), true},
		"few that never read":               {same(ovndb.Clients{Connected: 100, Busy: 5}, plan.SettledObservations), true},
		"all_receive_a_change_now_and_then": {append(same(busy, 4), idle, busy, busy), true},
	} {
		assert.Equal(t, c.want, plan.ClientsSettled(c.looks), name)
	}
}

func TestAboutClients(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ told, now, want int }{
		{0, 0, 0},
		{0, 5, 0},
		{0, 6, 6},
		{100, 125, 100},
		{100, 126, 126},
		{100, 75, 100},
		{100, 74, 74},
		{3, 103, 103},
		{300, 0, 0},
	} {
		assert.Equal(t, c.want, plan.AboutClients(c.told, c.now), "%+v", c)
	}
}
