package observe

import (
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// SupersededKey is the key in external_ids of NB_Global and SB_Global under which the
// clusters stand in whose place this one was put, by a recovery or a restore: their full
// IDs, with spaces. It is written with the new cluster's data: where these can be read, it
// is known.
const SupersededKey = "ovn-central:superseded"

// SupersededClusters returns the clusters that ids, the external_ids of NB_Global or
// SB_Global, say were given up; the oldest first.
func SupersededClusters(ids map[string]string) (all []raft.ID) {
	for id := range strings.FieldsSeq(ids[SupersededKey]) {
		all = append(all, raft.ID(id))
	}
	return all
}
