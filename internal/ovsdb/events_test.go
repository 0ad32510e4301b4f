package ovsdb

import (
	"strings"
	"testing"
	"unsafe"

	"github.com/ovn-org/libovsdb/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The library changes one of two clones and reports both.
func TestEvents_clones_share_texts(t *testing.T) {
	t.Parallel()
	group := "g"
	port := &routerPortEvents{UUID: "u", Name: "p", GatewayChassis: []string{"a", "b"}, Group: &group}
	clone := model.Clone(port).(*routerPortEvents) //nolint:forcetypeassert // of the same type
	assert.Equal(t, port, clone)
	clone.GatewayChassis[0], *clone.Group = "x", "y"
	assert.Equal(t, []string{"a", "b"}, port.GatewayChassis)
	assert.Equal(t, "g", *port.Group)

	a, isGateway := model.Clone(&gatewayChassisEvents{Name: "one", Chassis: strings.Clone("c1")}).(*gatewayChassisEvents)
	b, isHA := model.Clone(&haChassisEvents{Chassis: strings.Clone("c1"), Priority: 2}).(*haChassisEvents)
	require.True(t, isGateway && isHA)
	assert.Equal(t, &gatewayChassisEvents{Name: "one", Chassis: "c1"}, a)
	assert.Equal(t, &haChassisEvents{Chassis: "c1", Priority: 2}, b)
	assert.Same(t, unsafe.StringData(a.Chassis), unsafe.StringData(b.Chassis), "the name of a chassis is in memory once")
}
