package maintenance_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/foreign"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
)

const hostile = "\x1b[2Ja\r\nnext: juju remove-unit ovn-central/0"

// Any client of NB may write these records. The texts that are read from them are clean (R18).
func FuzzParseRecords(f *testing.F) {
	note := `{"by":"\u001b[2Jx","reason":"` + strings.Repeat("r", 90_000) + `","hostname":"` + strings.Repeat("h", 110_000) + `","members":[{"database":"a\n","id":"b\r","address":"c\u0000"}]}`
	for _, key := range []string{"maintenance/c1", "maintenance/" + hostile, "hold/c1/" + hostile, "hold/" + hostile + "/a", "hold/c1/", "hold/", "drain/c1", "drain/" + hostile, "drain/" + strings.Repeat("c", 300)} {
		f.Add("ovn-central:"+key, note, `["a\u001b"]`)
		f.Add("ovn-central:"+key, "garbage", "garbage")
	}
	f.Fuzz(func(t *testing.T, key, value, hosted string) {
		ids := map[string]string{key: value}
		if chassis, is := strings.CutPrefix(key, "ovn-central:maintenance/"); is {
			ids["ovn-central:maintenance-by/"+chassis], ids["ovn-central:maintenance-hosts/"+chassis] = value, hosted
		}
		r, cleaned := maintenance.ParseRecords(ids), maintenance.ParseRecords(ids)
		foreign.Texts(&cleaned)
		assert.Equal(t, r, cleaned)
		for _, n := range maintenance.Nodes(maintenance.Seen{Records: r}) {
			assert.True(t, foreign.IsName(n.Name()))
			assert.True(t, foreign.IsName(n.Chassis))
		}
		for _, holds := range r.Holds {
			for _, h := range holds {
				assert.True(t, foreign.IsName(h.Name+h.By+h.Hostname) || len(h.Name+h.By+h.Hostname) > foreign.MaxName)
			}
		}
	})
}

// A hold keeps a node whatever it is called, and is ended by the key that it has.
func TestHoldIsReleasedByTheNameThatIsShown(t *testing.T) {
	t.Parallel()
	name := strings.ReplaceAll(hostile, "/", "_") // what is before the last slash is the chassis
	key := "ovn-central:hold/c1/" + name
	r := maintenance.ParseRecords(map[string]string{key: `{"by":"x"}`})
	require.Len(t, r.Holds["c1"], 1)
	h := r.Holds["c1"][0]
	assert.Equal(t, foreign.Name(name), h.Name)
	assert.Equal(t, []string{key}, maintenance.Release("c1", h).Drop)
	assert.Contains(t, maintenance.Erase("c1", r).Drop, key)
}

// What is typed for a node means that node alone, and is not a flag.
func TestWhatIsTypedForANodeIsNoClaimOfAnotherAndNoFlag(t *testing.T) {
	t.Parallel()
	var chassis []schedule.Chassis
	for name, host := range map[string]string{"c1": "gw.maas", "evil": "gw", "c2": "--yes", "-x": "", "c3": "chassis:c1", "c4": "c5", "c5": "c4", "c6": "two.maas", "c7": "two.lab", "c8": "$(id)"} {
		chassis = append(chassis, schedule.Chassis{Name: name, Hostname: host})
	}
	for _, n := range maintenance.Nodes(maintenance.Seen{State: schedule.State{Chassis: chassis}}) {
		found, refused := maintenance.Resolve(maintenance.Nodes(maintenance.Seen{State: schedule.State{Chassis: chassis}}), n.Typed())
		require.Nil(t, refused, "%s: %s", n.Chassis, n.Typed())
		assert.Equal(t, n.Chassis, found.Chassis)
		assert.False(t, strings.HasPrefix(n.Typed(), "-"), n.Typed())
	}
}
