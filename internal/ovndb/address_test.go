package ovndb_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

func TestRaftAddress(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"10.0.0.1":        "ssl:10.0.0.1:6643",
		"fd99::1":         "ssl:[fd99::1]:6643",
		"::ffff:10.0.0.1": "ssl:[::ffff:10.0.0.1]:6643",
		"ovn-0.example":   "ssl:ovn-0.example:6643",
	} {
		got := ovndb.RaftAddress(ovndb.NB, address)
		assert.Equal(t, want, got)
		assert.Equal(t, address, ovndb.HostOf(got))
	}
	assert.Equal(t, "ssl:10.0.0.1:6644", ovndb.RaftAddress(ovndb.SB, "10.0.0.1"))
	assert.Equal(t, "10.0.0.1", ovndb.HostOf("tcp:10.0.0.1:6643"))
	for _, malformed := range []string{"", "ssl", "ssl:", ":", "[", "ssl:[]:", "ssl::6643"} {
		assert.Empty(t, ovndb.HostOf(malformed), malformed)
	}
}

func TestPortOf(t *testing.T) {
	t.Parallel()
	for address, port := range map[string]string{
		"tcp:10.0.0.1:6643": "6643", "ssl:[fd77::1]:6644": "6644", "tcp:10.0.0.1": "", "": "",
	} {
		assert.Equal(t, port, ovndb.PortOf(address), address)
	}
}
