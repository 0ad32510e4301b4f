// Package cordon has the pairs of external_ids of NB_Global that record which chassis are cordoned: package gateway
// obeys them, and package node writes them. It is pure.
package cordon

import (
	"maps"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/foreign"
)

// Key is the prefix of a chassis name. Cordons are in NB_Global because ovn-controller deletes unknown keys of its
// chassis, and the chassis's rows when it stops (controller/chassis.c).
const Key = "ovn-central:maintenance/"

// The values. A chassis without a value is not cordoned: otherwise an upgrade from a release without cordons would
// empty the whole cloud.
const (
	On  = "true"
	Off = "false"
)

// Pair returns the key and value that external_ids has while a chassis is cordoned.
func Pair(chassis string) (key, value string) { return Key + chassis, On }

// Names returns the cordoned chassis, sorted. An unknown value counts as a cordon. Keys with a malformed name are
// ignored.
func Names(ids map[string]string) (chassis []string) {
	for _, key := range slices.Sorted(maps.Keys(ids)) {
		if name, is := strings.CutPrefix(key, Key); is && foreign.IsName(name) && ids[key] != Off {
			chassis = append(chassis, name)
		}
	}
	return chassis
}
