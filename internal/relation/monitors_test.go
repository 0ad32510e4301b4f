package relation_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

func TestMonitorsDatabag_as_charm_helpers(t *testing.T) {
	t.Parallel()
	databag := relation.MonitorsDatabag([]string{"ovn-northd", "check_ovn_certs"})
	assert.Equal(t, "True", databag["primary"])
	assert.JSONEq(t, `{"monitors": {"remote": {"nrpe": {
		"check_ovn_certs": {"command": "check_check_ovn_certs"}, "ovn-northd": {"command": "check_ovn-northd"}}}}}`, databag["monitors"])
	assert.Equal(t, databag, relation.MonitorsDatabag([]string{"check_ovn_certs", "ovn-northd"}), "the order makes no change")
	assert.Empty(t, relation.MonitorsDatabag(nil)["monitors"])
	assert.Contains(t, relation.MonitorsDatabag(nil), "monitors", "what was published is taken back")
}

func TestParseNagiosHost(t *testing.T) {
	t.Parallel()
	for title, c := range map[string]struct {
		context string
		bag     map[string]string
		want    relation.NagiosHost
	}{
		"by nrpe":             {"juju", map[string]string{"nagios_hostname": "net-node1"}, relation.NagiosHost{Host: "net-node1", Unit: "ovn-central/0"}},
		"by nrpe, in context": {"juju", map[string]string{"nagios_hostname": "n", "nagios_host_context": "prod"}, relation.NagiosHost{Host: "n", Unit: "prod:ovn-central/0"}},
		"before nrpe has":     {"juju", nil, relation.NagiosHost{Host: "juju-ovn-central-0", Unit: "ovn-central/0"}},
		"without a context":   {"", nil, relation.NagiosHost{Host: "ovn-central-0", Unit: "ovn-central/0"}},
	} {
		host, err := relation.ParseNagiosHost("ovn-central/0", c.context, c.bag)
		require.NoError(t, err, title)
		assert.Equal(t, c.want, host, title)
	}
}

// The checks are files that root's programs read.
func TestParseNagiosHost_unsafe_names(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"x/../../../../../etc/rsyslog.d/evil", "a\ncommand[x]=/bin/sh", "a b", "\x1b[2J", "é", strings.Repeat("a", 200)} {
		host, err := relation.ParseNagiosHost("ovn-central/0", "juju", map[string]string{"nagios_hostname": value, "nagios_host_context": value})
		require.ErrorContains(t, err, "nrpe's unit publishes nagios_hostname ")
		require.ErrorContains(t, err, "nrpe's unit publishes nagios_host_context ")
		assert.Equal(t, relation.NagiosHost{Host: "juju-ovn-central-0", Unit: "ovn-central/0"}, host)
	}
}
