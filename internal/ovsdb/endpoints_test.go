package ovsdb_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
)

func TestEndpointsOfAMember(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		address string
		nb, sb  []string
	}{
		"IPv4": {
			"tcp:10.0.0.1:6643",
			[]string{"tcp:10.0.0.1:6641"},
			[]string{"tcp:10.0.0.1:16642", "tcp:10.0.0.1:6642"},
		},
		"TLS": {
			"ssl:10.0.0.1:6644",
			[]string{"ssl:10.0.0.1:6641"},
			[]string{"ssl:10.0.0.1:16642", "ssl:10.0.0.1:6642"},
		},
		"IPv6": {
			"ssl:[fd77:77::1]:6643",
			[]string{"ssl:[fd77:77::1]:6641"},
			[]string{"ssl:[fd77:77::1]:16642", "ssl:[fd77:77::1]:6642"},
		},
		"name": {
			"tcp:central-1.maas:6643",
			[]string{"tcp:central-1.maas:6641"},
			[]string{"tcp:central-1.maas:16642", "tcp:central-1.maas:6642"},
		},
		"no port":     {"tcp:10.0.0.1", nil, nil},
		"no protocol": {"10.0.0.1", nil, nil},
		"empty":       {"", nil, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, test.nb, ovsdb.Endpoints(ovndb.NB, test.address))
			assert.Equal(t, test.sb, ovsdb.Endpoints(ovndb.SB, test.address))
		})
	}
}
