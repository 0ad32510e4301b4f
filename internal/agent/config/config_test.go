package config_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/agent/config"
)

func plain() config.Config {
	return config.Config{
		Unit: "u/0", Mode: config.Advise, NB: []string{"unix:/nb"}, SB: []string{"unix:/sb"}, TTL: 4 * time.Second,
		HoldDown: time.Minute,
		Listen:   "127.0.0.1:16401", PeerListen: "127.0.0.1:16402",
	}
}

func TestCheck_refuses_unusable_configuration(t *testing.T) {
	t.Parallel()
	require.NoError(t, plain().Check())
	secure := plain()
	secure.Key, secure.Certificate, secure.CA, secure.PeerListen, secure.Peers = "k", "c", "a", "10.0.0.5:16402",
		[]string{"[fd00::6]:16402"}
	require.NoError(t, secure.Check())
	for option, changes := range map[string][]func(*config.Config){
		"unit":         {func(c *config.Config) { c.Unit = "" }},
		"lease-ttl":    {func(c *config.Config) { c.TTL = time.Second }},
		"mode":         {func(c *config.Config) { c.Mode = "all" }},
		"hold-down":    {func(c *config.Config) { c.HoldDown = -time.Second }},
		"private-key,": {func(c *config.Config) { c.Key = "k" }},
		"nb or sb":     {func(c *config.Config) { c.SB = nil }},
		"listen":       {func(c *config.Config) { c.Listen = "0.0.0.0:16401" }},
		"peer-listen": {
			func(c *config.Config) { c.PeerListen = "10.0.0.5:1" }, func(c *config.Config) { c.PeerListen = ":16402" },
			func(c *config.Config) { c.PeerListen = "[::]:16402" },
		},
		"peer": {
			func(c *config.Config) { c.Peers = []string{"10.0.0.6:1"} },
			func(c *config.Config) { c.Peers = []string{"example:16402"} },
		},
	} {
		for _, change := range changes {
			c := plain()
			change(&c)
			require.ErrorContains(t, c.Check(), option+" ")
		}
	}
}

// Keys of a newer charm are ignored.
func TestParse(t *testing.T) {
	t.Parallel()
	c := plain()
	c.NeutronGateways, c.CordonNew, c.Peers, c.Generation, c.Key, c.Socket = true, true, []string{"127.0.0.2:16402"},
		"f00", "/key", "/socket"
	read, err := config.Parse(c.Render(), config.Config{})
	require.NoError(t, err)
	assert.Equal(t, c, read)
	read, err = config.Parse([]byte(`{"mode":"on","hold-down":"1m30s","colour":"red"}`), plain())
	require.NoError(t, err)
	want := plain()
	want.Mode, want.HoldDown = config.On, 90*time.Second
	assert.Equal(t, want, read)
	defaults := plain()
	defaults.Peers = []string{"127.0.0.2:16402"}
	_, err = config.Parse([]byte(`{"nb":["unix:/other"],"sb":["unix:/other"],"peers":["127.0.0.3:16402"]}`), defaults)
	require.NoError(t, err)
	assert.Equal(t, plain().NB, defaults.NB, "the defaults are unchanged")
	assert.Equal(t, plain().SB, defaults.SB)
	assert.Equal(t, []string{"127.0.0.2:16402"}, defaults.Peers)
	_, err = config.Parse([]byte(`{"hold-down":90}`), plain())
	wrong := new(json.UnmarshalTypeError)
	require.ErrorAs(t, err, &wrong)
	assert.Equal(t, "number", wrong.Value)
}

func TestRestarts(t *testing.T) {
	t.Parallel()
	for restarts, changes := range map[bool][]func(*config.Config){
		true: {
			func(c *config.Config) { c.TTL++ }, func(c *config.Config) { c.PeerListen = "127.0.0.1:1" },
			func(c *config.Config) { c.NB = []string{"unix:/other"} }, func(c *config.Config) { c.Key = "/key" },
		},
		false: {
			func(*config.Config) {}, func(c *config.Config) { c.Mode = config.On }, func(c *config.Config) { c.HoldDown = 0 },
			func(c *config.Config) { c.Peers = []string{"127.0.0.2:16402"} }, func(c *config.Config) { c.Generation = "2" },
			func(c *config.Config) { c.NeutronGateways = true }, func(c *config.Config) { c.CordonNew = true },
		},
	} {
		for i, change := range changes {
			next := plain()
			change(&next)
			assert.Equal(t, restarts, plain().Restarts(next), "change %d", i)
		}
	}
}

func TestKnows_each_form_of_an_address(t *testing.T) {
	t.Parallel()
	c := config.Config{PeerListen: "10.0.0.1:16402", Peers: []string{"10.0.0.2:16402", "[fd00::5]:16402"}}
	for _, known := range []string{"10.0.0.1:16402", "10.0.0.2:16402", "[::ffff:10.0.0.2]:16402", "[fd00:0::5]:16402"} {
		assert.True(t, c.Knows(known), known)
	}
	c.PeerListen = ""
	for _, other := range []string{"", "10.0.0.1:16402", "10.0.0.2:16403", "10.0.0.2", "[fd00::6]:16402", "x"} {
		assert.False(t, c.Knows(other), other)
	}
}
