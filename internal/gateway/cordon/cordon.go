// Package cordon has the pairs of external_ids of NB_Global that record which chassis are cordoned: package gateway
// goes by them, and package node writes them. It is pure.
package cordon

import (
	"maps"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/foreign"
)

// Key is followed by the name of a chassis. It is in NB_Global, and not with the chassis, since ovn-controller
// deletes what it does not know in other_config, and its rows when it stops (controller/chassis.c).
const Key = "ovn-central:maintenance/"

// The values. A chassis without one takes new gateways, or an upgrade to a release that knows of cordons would empty
// the whole cloud.
const (
	On  = "true"
	Off = "false"
)

// Pair returns the pair that external_ids has while a chassis is cordoned.
func Pair(chassis string) (key, value string) { return Key + chassis, On }

// Names returns the chassis that are cordoned, sorted. What can't be read counts as a cordon. A key with a malformed
// name is of no chassis.
func Names(ids map[string]string) (chassis []string) {
	for _, key := range slices.Sorted(maps.Keys(ids)) {
		if name, is := strings.CutPrefix(key, Key); is && foreign.IsName(name) && ids[key] != Off {
			chassis = append(chassis, name)
		}
	}
	return chassis
}
