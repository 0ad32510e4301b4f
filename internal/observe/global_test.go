package observe_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/lease"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
)

// R5: a member that seems down may be part of another unit's change during the observation.
func TestR5_view_names_unit_of_change(t *testing.T) {
	now := time.Now()
	held := lease.Record{Term: 6}.Taken("ovn-central/1", 15*time.Second)
	held.At = now.Add(-20 * time.Second).Unix()
	abandoned := held
	abandoned.At = now.Add(-time.Minute).Unix()
	of := func(r lease.Record) map[string]string { return map[string]string{observe.LockKey: r.String()} }
	free := of(lease.Record{Term: 6})
	tests := map[string]struct {
		before, after map[string]string
		by            string
	}{
		"no lock yet":                     {map[string]string{}, map[string]string{}, ""},
		"no unit holds it":                {free, free, ""},
		"held all the time":               {of(held), of(held.Renewed()), "ovn-central/1"},
		"taken meanwhile":                 {free, of(held), "ovn-central/1"},
		"given back meanwhile":            {of(held), of(held.Released()), "ovn-central/1"},
		"taken and given back":            {free, of(held.Released()), "another unit"},
		"its holder is gone for a minute": {of(abandoned), of(abandoned), ""},
		"of a version that says no time": {
			of(lease.Record{Holder: "ovn-central/1", Term: 7, TTLSeconds: 15}),
			of(lease.Record{Holder: "ovn-central/1", Term: 7, TTLSeconds: 15}), "",
		},
		"of a clock that is far ahead": {of(ahead(held, now)), of(ahead(held, now)), ""},
		"not to be read at first":      {nil, of(held.Released()), ""},
		"unreadable_afterwards":        {free, nil, ""},
		"damaged": {
			map[string]string{observe.LockKey: "{"}, map[string]string{observe.LockKey: "{"}, "",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.by, observe.ChangedBy(test.before, test.after, now))
		})
	}
}

func ahead(r lease.Record, now time.Time) lease.Record {
	r.At = now.Add(time.Hour).Unix()
	return r
}
