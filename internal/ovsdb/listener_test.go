package ovsdb_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
)

const minute = time.Minute

func TestEndpoints(t *testing.T) {
	t.Parallel()
	for address, want := range map[string][3]string{
		"tcp:10.0.0.1:6643":       {"tcp:10.0.0.1:6641", "tcp:10.0.0.1:16642", "tcp:10.0.0.1:6642"},
		"ssl:10.0.0.1:6644":       {"ssl:10.0.0.1:6641", "ssl:10.0.0.1:16642", "ssl:10.0.0.1:6642"},
		"ssl:[fd77:77::1]:6643":   {"ssl:[fd77:77::1]:6641", "ssl:[fd77:77::1]:16642", "ssl:[fd77:77::1]:6642"},
		"tcp:central-1.maas:6643": {"tcp:central-1.maas:6641", "tcp:central-1.maas:16642", "tcp:central-1.maas:6642"},
	} {
		assert.Equal(t, want[:1], ovsdb.Endpoints(ovndb.NB, address))
		assert.Equal(t, want[1:], ovsdb.Endpoints(ovndb.SB, address))
	}
	for _, malformed := range []string{"tcp:10.0.0.1", "10.0.0.1", ""} {
		assert.Empty(t, ovsdb.Endpoints(ovndb.SB, malformed), malformed)
	}
}

func TestWantedConnections(t *testing.T) {
	t.Parallel()
	for suffix, ipv6 := range map[string]bool{"": false, ":[::]": true} {
		assert.Equal(t, []ovsdb.Connection{{Target: "pssl:6641" + suffix, InactivityProbe: minute}},
			ovsdb.WantedConnections(ovndb.NB, minute, ipv6))
		assert.Equal(t, []ovsdb.Connection{
			{Target: "pssl:6642" + suffix, Role: "ovn-controller", InactivityProbe: minute},
			{Target: "pssl:16642" + suffix, InactivityProbe: minute},
		}, ovsdb.WantedConnections(ovndb.SB, minute, ipv6))
	}
}

func TestSatisfied(t *testing.T) {
	t.Parallel()
	connection := func(target, role string, probe time.Duration) ovsdb.Connection {
		return ovsdb.Connection{Target: target, Role: role, InactivityProbe: probe}
	}
	chassis := connection("pssl:6642", "ovn-controller", minute)
	wide := connection("pssl:6642:[::]", "ovn-controller", minute)
	theirs := ovsdb.Connection{Target: "ptcp:6642:127.0.0.1"}
	type rows = []ovsdb.Connection
	for name, test := range map[string]struct {
		rows, want rows
		satisfied  bool
	}{
		"equal":              {rows{chassis}, rows{chassis}, true},
		"beside_others":      {rows{theirs, chassis}, rows{chassis}, true},
		"explicit_IPv4":      {rows{connection("pssl:6642:0.0.0.0", "ovn-controller", minute)}, rows{chassis}, true},
		"both_families":      {rows{wide}, rows{chassis}, true},
		"IPv4_only":          {rows{chassis}, rows{wide}, false},
		"equal_IPv6":         {rows{wide}, rows{wide}, true},
		"missing":            {rows{theirs}, rows{chassis}, false},
		"empty":              {nil, rows{chassis}, false},
		"twice":              {rows{chassis, wide}, rows{chassis}, false},
		"other_role":         {rows{connection("pssl:6642", "", minute)}, rows{chassis}, false},
		"other_probe":        {rows{connection("pssl:6642", "ovn-controller", 0)}, rows{chassis}, false},
		"default_probe":      {rows{connection("pssl:6642", "ovn-controller", ovsdb.ProbeUnset)}, rows{chassis}, false},
		"equal_milliseconds": {rows{connection("pssl:6642", "ovn-controller", minute+1)}, rows{chassis}, true},
		"one_address":        {rows{connection("pssl:6642:10.0.0.1", "ovn-controller", minute)}, rows{chassis}, false},
		"nothing_wanted":     {rows{theirs, chassis}, nil, true},
	} {
		assert.Equal(t, test.satisfied, ovsdb.Satisfied(rowsOf(test.rows...), test.want), name)
	}
}

func rowsOf(all ...ovsdb.Connection) (rows []ovsdb.Listener) {
	for _, c := range all {
		rows = append(rows, ovsdb.Listener{Connection: c})
	}
	return rows
}

func TestWithoutTLS(t *testing.T) {
	t.Parallel()
	for want, targets := range map[bool][]string{
		true: {
			"ptcp:", "ptcp:16666", "ptcp:16666:0.0.0.0", "ptcp:16666:10.0.0.1", "ptcp:16666:[::]", "ptcp:0:[fe80::1%eth0]",
			"tcp:10.0.0.1:6641", "tcp:[2001:db8::1]:6641", "tcp:manager:6641",
		},
		false: {
			"pssl:6641", "pssl:6641:[::]", "ssl:10.0.0.1:6641", "", "punix:/x.sock", "ptcp:16666:127.0.0.1",
			"ptcp:16666:127.1.2.3", "ptcp:16666:[::1]", "ptcp:16666:localhost", "tcp:127.0.0.1:6641", "tcp:[::1]:6641",
		},
	} {
		for _, target := range targets {
			assert.Equal(t, want, ovsdb.Connection{Target: target}.WithoutTLS(), "%q", target)
		}
	}
}

// A number ahead of nb_cfg counts as no response: it was reached before an older database was restored (R0).
func TestResponds(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		config   int64
		row      ovsdb.ChassisRow
		responds bool
	}{
		"equal":                   {5001, ovsdb.ChassisRow{Known: true, Follows: 5001}, true},
		"behind":                  {5001, ovsdb.ChassisRow{Known: true, Follows: 5000}, false},
		"ahead":                   {5001, ovsdb.ChassisRow{Known: true, Follows: 8700}, false},
		"no_row":                  {5001, ovsdb.ChassisRow{}, false},
		"no_row_before_20.09":     {5001, ovsdb.ChassisRow{Follows: 5001}, true},
		"nb_cfg_0":                {0, ovsdb.ChassisRow{Known: true}, true},
		"nb_cfg_0_after_restored": {0, ovsdb.ChassisRow{Known: true, Follows: 8700}, true},
	} {
		sb := ovsdb.Southbound{Config: test.config}
		assert.Equal(t, test.responds, sb.Responds(test.row), name)
		sb.Unfollowed = true
		assert.True(t, sb.Responds(test.row), name)
	}
}
