package ovsdb_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
)

const minute = time.Minute

func TestWantedConnections(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		database ovndb.Database
		ipv6     bool
		want     []ovsdb.Connection
	}{
		"Northbound": {ovndb.NB, false, []ovsdb.Connection{{Target: "pssl:6641", InactivityProbe: minute}}},
		"Southbound": {ovndb.SB, false, []ovsdb.Connection{
			{Target: "pssl:6642", Role: "ovn-controller", InactivityProbe: minute},
			{Target: "pssl:16642", InactivityProbe: minute},
		}},
		"Northbound by IPv6": {ovndb.NB, true, []ovsdb.Connection{{Target: "pssl:6641:[::]", InactivityProbe: minute}}},
		"Southbound by IPv6": {ovndb.SB, true, []ovsdb.Connection{
			{Target: "pssl:6642:[::]", Role: "ovn-controller", InactivityProbe: minute},
			{Target: "pssl:16642:[::]", InactivityProbe: minute},
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, test.want, ovsdb.WantedConnections(test.database, minute, test.ipv6))
		})
	}
}

func TestListenersAreSatisfied(t *testing.T) {
	t.Parallel()
	chassis := ovsdb.Connection{Target: "pssl:6642", Role: "ovn-controller", InactivityProbe: minute}
	with := func(change func(*ovsdb.Connection)) ovsdb.Connection {
		c := chassis
		change(&c)
		return c
	}
	wide := with(func(c *ovsdb.Connection) { c.Target = "pssl:6642:[::]" })
	theirs := ovsdb.Connection{Target: "ptcp:6642:127.0.0.1"}
	tests := map[string]struct {
		rows, want []ovsdb.Connection
		satisfied  bool
	}{
		"as wanted":                     {[]ovsdb.Connection{chassis}, []ovsdb.Connection{chassis}, true},
		"beside those of others":        {[]ovsdb.Connection{theirs, chassis}, []ovsdb.Connection{chassis}, true},
		"the same in other words":       {[]ovsdb.Connection{with(func(c *ovsdb.Connection) { c.Target += ":0.0.0.0" })}, []ovsdb.Connection{chassis}, true},
		"for both families, IPv4 asked": {[]ovsdb.Connection{wide}, []ovsdb.Connection{chassis}, true},
		"for IPv4 only, IPv6 asked":     {[]ovsdb.Connection{chassis}, []ovsdb.Connection{wide}, false},
		"for both families, as asked":   {[]ovsdb.Connection{wide}, []ovsdb.Connection{wide}, true},
		"missing":                       {[]ovsdb.Connection{theirs}, []ovsdb.Connection{chassis}, false},
		"none at all":                   {nil, []ovsdb.Connection{chassis}, false},
		"twice":                         {[]ovsdb.Connection{chassis, wide}, []ovsdb.Connection{chassis}, false},
		"another role":                  {[]ovsdb.Connection{with(func(c *ovsdb.Connection) { c.Role = "" })}, []ovsdb.Connection{chassis}, false},
		"another probe":                 {[]ovsdb.Connection{with(func(c *ovsdb.Connection) { c.InactivityProbe = 0 })}, []ovsdb.Connection{chassis}, false},
		"probe by default":              {[]ovsdb.Connection{with(func(c *ovsdb.Connection) { c.InactivityProbe = ovsdb.ProbeUnset })}, []ovsdb.Connection{chassis}, false},
		"probe in the same millisecond": {[]ovsdb.Connection{chassis}, []ovsdb.Connection{with(func(c *ovsdb.Connection) { c.InactivityProbe += time.Microsecond })}, true},
		"at one address only": {
			[]ovsdb.Connection{with(func(c *ovsdb.Connection) { c.Target += ":10.0.0.1" })}, []ovsdb.Connection{chassis}, false,
		},
		"nothing wanted": {[]ovsdb.Connection{theirs, chassis}, nil, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, test.satisfied, ovsdb.Satisfied(rowsOf(test.rows...), test.want))
		})
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
	for target, want := range map[string]bool{
		"pssl:6641": false, "pssl:6641:[::]": false, "ssl:10.0.0.1:6641": false, "": false, "punix:/x.sock": false,
		"ptcp:": true, "ptcp:16666": true, "ptcp:16666:0.0.0.0": true, "ptcp:16666:10.0.0.1": true, "ptcp:16666:[::]": true, "ptcp:0:[fe80::1%eth0]": true,
		"ptcp:16666:127.0.0.1": false, "ptcp:16666:127.1.2.3": false, "ptcp:16666:[::1]": false, "ptcp:16666:localhost": false,
		"tcp:10.0.0.1:6641": true, "tcp:[2001:db8::1]:6641": true, "tcp:127.0.0.1:6641": false, "tcp:[::1]:6641": false, "tcp:manager:6641": true,
	} {
		assert.Equal(t, want, ovsdb.Connection{Target: target}.WithoutTLS(), "%q", target)
	}
}
