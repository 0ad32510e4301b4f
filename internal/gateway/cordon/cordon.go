// Package cordon has the pairs of external_ids of NB_Global that record which chassis are cordoned: package gateway
// obeys them, and package node writes them. It is pure.
package cordon

import (
	"maps"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/foreign"
)

// Key is followed by the name of a chassis. Cordons are in NB_Global since ovn-controller deletes unknown keys of the
// chassis, and its rows when it stops (controller/chassis.c).
const Key = "ovn-central:maintenance/"

// The values. A chassis without one is not cordoned: otherwise an upgrade from a release without cordons would empty
// the whole cloud.
const (
	On  = "true"
	Off = "false"
)

// Pair returns the pair that external_ids has while a chassis is cordoned.
func Pair(chassis string) (key, value string) { return Key + chassis, On }

// Names returns the chassis that are cordoned, sorted. An unknown value counts as a cordon. Keys with a malformed name
// are ignored.
func Names(ids map[string]string) (chassis []string) {
	for _, key := range slices.Sorted(maps.Keys(ids)) {
		if name, is := strings.CutPrefix(key, Key); is && foreign.IsName(name) && ids[key] != Off {
			chassis = append(chassis, name)
		}
	}
	return chassis
}
