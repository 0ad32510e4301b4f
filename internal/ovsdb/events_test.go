package ovsdb

import (
	"strings"
	"testing"
	"unsafe"

	"github.com/ovn-org/libovsdb/model"
	"github.com/stretchr/testify/assert"
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

	copies := func(text string) string { return strings.Clone(text) }
	a := model.Clone(&gatewayChassisEvents{Name: "one", Chassis: copies("c1"), Priority: 3}).(*gatewayChassisEvents) //nolint:forcetypeassert // as above
	b := model.Clone(&haChassisEvents{Chassis: copies("c1"), Priority: 2}).(*haChassisEvents)                        //nolint:forcetypeassert // as above
	assert.Equal(t, &gatewayChassisEvents{Name: "one", Chassis: "c1", Priority: 3}, a)
	assert.Equal(t, &haChassisEvents{Chassis: "c1", Priority: 2}, b)
	assert.Same(t, unsafe.StringData(a.Chassis), unsafe.StringData(b.Chassis), "the name of a chassis is in memory once")
}
