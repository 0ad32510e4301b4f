package observe

import (
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// SupersededKey is the key in external_ids of NB_Global and SB_Global under which the
// clusters stand in whose place this one was put, by a recovery or a restore: their full
// IDs, with spaces. It is written with the new cluster's data: where these can be read, it
// is known.
const SupersededKey = "ovn-central:superseded"

// SupersededClusters returns the clusters that ids, the external_ids of NB_Global or
// SB_Global, say were given up; the oldest first. What is not an ID is left out.
func SupersededClusters(ids map[string]string) (all []raft.ID) {
	for text := range strings.FieldsSeq(ids[SupersededKey]) {
		if id, ok := raft.ParseID(text); ok {
			all = append(all, id)
		}
	}
	return all
}

// supersededBy is [SupersededClusters] without the cluster own, whose external_ids they are: a cluster
// can't take its own place. itself reports whether own is there all the same.
func supersededBy(own *raft.ID, ids map[string]string) (all []raft.ID, itself bool) {
	all = SupersededClusters(ids)
	if own == nil {
		return all, false
	}
	before := len(all)
	all = slices.DeleteFunc(all, func(id raft.ID) bool { return id == *own })
	return all, len(all) < before
}
