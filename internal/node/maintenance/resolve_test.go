package maintenance_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
)

func TestResolve_names_and_chassis(t *testing.T) {
	t.Parallel()
	nodes := []maintenance.Node{
		{Chassis: "c1", Hostname: "one.maas"},
		{Chassis: "c2", Hostname: "two.maas"},
		{Chassis: "c3", Hostname: "two.lab"},
		{Chassis: "c4", Hostname: "twin"},
		{Chassis: "c5", Hostname: "twin"},
		{Chassis: "one.maas", Life: maintenance.Absent}, // only its records are left
		{Chassis: "two.maas.old", Life: maintenance.Absent},
		{Chassis: "c6", Hostname: "gw.maas"},
		{Chassis: "evil", Hostname: "gw"}, // a chassis may claim the short name of another one's host
		{Chassis: "four.lab", Hostname: "five.lab"},
		{Chassis: "six.lab", Life: maintenance.Up}, // its system-id may be a host name
	}
	for id, want := range map[string]string{
		"chassis:one.maas": "one.maas", "chassis:c1": "c1", "chassis:c4": "c4", "c2": "c2", "two.maas": "c2", "two.lab": "c3",
		"c4": "c4", "one": "c1", "gw.maas": "c6", "chassis:evil": "evil", "five": "four.lab", "six": "six.lab",
		"six.lab": "six.lab",
	} {
		n, refused := maintenance.Resolve(nodes, id)
		require.Nil(t, refused, id)
		assert.Equal(t, want, n.Chassis, id)
	}
	for id, want := range map[string]struct {
		code  finding.Code
		named string
	}{
		"twin":             {finding.NodeAmbiguous, "c4 (twin), c5 (twin)"},
		"two":              {finding.NodeAmbiguous, "c2 (two.maas), c3 (two.lab)"},
		"gw":               {finding.NodeAmbiguous, "c6 (gw.maas), evil (gw)"},
		"one.maas":         {finding.NodeAmbiguous, "c1 (one.maas), one.maas"},
		"chassis:two.maas": {finding.NodeUnknown, "c1 (one.maas), c2 (two.maas), "},
		"four":             {finding.NodeUnknown, "c1 (one.maas), c2 (two.maas), "},
		"three":            {finding.NodeUnknown, "c1 (one.maas), c2 (two.maas), "},
		"":                 {finding.ParameterInvalid, "node"},
	} {
		_, refused := maintenance.Resolve(nodes, id)
		require.NotNil(t, refused, id)
		assert.Equal(t, string(want.code), refused.Metadata["finding"], id)
		assert.Contains(t, refused.Message, want.named)
	}
	s := schedule.State{Chassis: []schedule.Chassis{{Name: "c1"}, {Name: "far", Hostname: "far-1.az2", Remote: true}}}
	for _, id := range []string{"far", "far-1", "far-1.az2", "chassis:far"} {
		refused := maintenance.OfOtherOVN(s, id)
		require.NotNil(t, refused, id)
		assert.Equal(t, string(finding.NodeUnknown), refused.Metadata["finding"])
		assert.Contains(t, refused.Message, finding.Reason{Code: finding.ChassisRemote}.String())
	}
	assert.Nil(t, maintenance.OfOtherOVN(s, "c1"))

	_, refused := maintenance.Resolve(make([]maintenance.Node, 50), "x")
	assert.Contains(t, refused.Message, ", and 30 more")
	_, refused = maintenance.Resolve(nil, "x")
	assert.Equal(t, string(finding.NodeUnknown), refused.Metadata["finding"])
}

// A printed name resolves to exactly its node.
func TestTyped_means_one_node(t *testing.T) {
	t.Parallel()
	nodes := maintenance.Nodes(maintenance.Seen{State: schedule.State{Chassis: []schedule.Chassis{
		{Name: "c1", Hostname: "one.maas"},
		{Name: "c2", Hostname: "twin"},
		{Name: "c3", Hostname: "twin"},
		{Name: "two.maas", Hostname: "two.maas"},
		{Name: "c4", Hostname: "two.maas"},
		{Name: "chassis:c1"},
		{Name: "c5", Hostname: "five"},
		{Name: "c5.old", Hostname: "c5"},
		{Name: "c6", Hostname: "gw.maas"},
		{Name: "evil", Hostname: "gw"},
		{Name: "c7", Hostname: "--yes"},
		{Name: "-x"},
		{Name: "c8", Hostname: "c9"},
		{Name: "c9", Hostname: "c8"},
		{Name: "c10", Hostname: "$(id)"},
	}}})
	typed := map[string]string{}
	for _, n := range nodes {
		typed[n.Chassis] = n.Typed()
		found, refused := maintenance.Resolve(nodes, n.Typed())
		require.Nil(t, refused, n.Typed())
		assert.Equal(t, n.Chassis, found.Chassis)
	}
	assert.Equal(t, map[string]string{
		"c1": "one.maas", "c2": "c2", "c3": "c3", "two.maas": "chassis:two.maas", "c4": "c4",
		"chassis:c1": "chassis:chassis:c1", "c5": "five", "c5.old": "c5.old", "c6": "gw.maas", "evil": "evil", "c7": "c7",
		"-x": "chassis:-x", "c8": "chassis:c8", "c9": "chassis:c9", "c10": "$(id)",
	}, typed)
}
