package ovsdb

import (
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/ovn-org/libovsdb/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What an operator may have given wrong is added to the library's words.
func TestExplained(t *testing.T) {
	t.Parallel()
	const text = "the library's words"
	other := errors.New("another error")
	assert.Equal(t, text, explained(other, text))
	assert.Contains(t, explained(fmt.Errorf("failed: %w", x509.UnknownAuthorityError{}), text), text+": ")
	for _, said := range []string{
		"target database OVN_Southbound not found", "unknown database: OVN_Southbound",
		"listdbs failure - remote error: tls: certificate required",
		"listdbs failure - remote error: tls: unknown certificate authority",
	} {
		assert.Contains(t, explained(other, said), said+": ")
	}
}

// The lock of R5 depends on this transaction.
func TestSwap_waits_for_one_pair(t *testing.T) {
	t.Parallel()
	const (
		uuid   = "0b5e3c1a-0000-4000-8000-000000000001"
		where  = `["_uuid","==",["uuid","` + uuid + `"]]`
		insert = `["external_ids","insert",["map",[["key","next"]]]]`
		mutate = `{"op":"mutate","table":"NB_Global","mutations":[`
		change = mutate + `["external_ids","delete","key"],` + insert + `],"where":[` + where + `]}`
		add    = mutate + insert + `],"where":[` + where + `]}`
		create = `{"op":"insert","table":"NB_Global","row":{"external_ids":["map",[["key","next"]]]},"uuid-name":"global"}`
		look   = `{"where":[` + where + `],"op":"select","table":"NB_Global","columns":["external_ids"]}`
	)
	wait := func(old string) string {
		return `{"op":"wait","table":"NB_Global","rows":[{"_uuid":["uuid","` + uuid + `"]}],"columns":["_uuid"],` +
			`"timeout":0,"where":[` + where + `,["external_ids","includes",["map",[["key","` + old + `"]]]]],"until":"=="}`
	}
	for name, c := range map[string]struct {
		uuid string
		ids  map[string]string
		sent string
	}{
		"a value":        {uuid, map[string]string{"key": "old", "other": "pair"}, wait("old") + "," + change + "," + look},
		"an empty value": {uuid, map[string]string{"key": ""}, wait("") + "," + change + "," + look},
		"no value":       {uuid, map[string]string{"other": "pair"}, add + "," + look},
		"no row":         {"", nil, create},
	} {
		sent, err := json.Marshal(swap("NB_Global", c.uuid, c.ids, "key", "next"))
		require.NoError(t, err)
		assert.Equal(t, "["+c.sent+"]", string(sent), name)
	}
}

// The library changes one of two clones, and reports both.
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
