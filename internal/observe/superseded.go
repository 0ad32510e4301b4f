package observe

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/foreign"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
)

// SupersededKey is the key in external_ids of NB_Global and SB_Global for the full IDs of the clusters that this one
// replaced by a recovery or a restore, separated by spaces. It is written with the new cluster's data: if it
// is readable, so is the key.
const SupersededKey = "ovn-central:superseded"

// ClustersKey is the key in external_ids of NB_Global or SB_Global for the clusters of the other database d, after one
// of them was replaced: their full IDs, separated by spaces, the present one last. So a machine that may ask only for
// one database learns about both.
func ClustersKey(d ovndb.Database) string { return "ovn-central:" + d.Short() + "-clusters" }

// SupersededAnswers returns what ids, the external_ids of NB_Global or SB_Global read at an address, report about
// clusters that were given up, by database. own is the cluster of d that is served there.
func SupersededAnswers(
	address string, d ovndb.Database, own raft.ID, ids map[string]string,
) map[ovndb.Database][]recovery.Answer {
	all := map[ovndb.Database][]recovery.Answer{}
	if given := SupersededClusters(ids); len(given) > 0 {
		all[d] = []recovery.Answer{{Address: address, Cluster: own, Supersedes: given}}
	}
	if others := parseIDs(ids[ClustersKey(d.Other())]); len(others) > 1 {
		last := len(others) - 1
		all[d.Other()] = []recovery.Answer{{Address: address, Cluster: others[last], Supersedes: others[:last]}}
	}
	return all
}

// SupersededDrift returns the entries about clusters that were given up, of database d and of the other one, that ids,
// the external_ids of NB_Global or SB_Global, lack, by key.
func SupersededDrift(
	d ovndb.Database, present map[ovndb.Database]raft.ID, superseded map[ovndb.Database][]raft.ID, ids map[string]string,
) map[string]string {
	drift := map[string]string{}
	have := SupersededClusters(ids)
	if slices.ContainsFunc(superseded[d], func(id raft.ID) bool { return !slices.Contains(have, id) }) {
		drift[SupersededKey] = FormatIDs(superseded[d])
	}
	other := d.Other()
	text := FormatIDs(append(slices.Clone(superseded[other]), present[other]))
	if len(superseded[other]) > 0 && ids[ClustersKey(other)] != text {
		drift[ClustersKey(other)] = text
	}
	return drift
}

// FormatIDs formats IDs for external_ids.
func FormatIDs(ids []raft.ID) string {
	var all []string
	for _, id := range ids {
		all = append(all, string(id))
	}
	return strings.Join(all, " ")
}

// SupersededClusters returns the clusters that were given up according to ids, the external_ids of NB_Global or
// SB_Global, the oldest first. Invalid IDs are ignored.
func SupersededClusters(ids map[string]string) []raft.ID { return parseIDs(ids[SupersededKey]) }

func parseIDs(texts string) (all []raft.ID) {
	for text := range strings.FieldsSeq(texts) {
		if id, ok := raft.ParseID(text); ok {
			all = append(all, id)
		}
	}
	return all
}

// RecoveryKey is the key in external_ids of NB_Global and SB_Global for the recovery or restore that made the cluster.
const RecoveryKey = "ovn-central:recovery"

// madeBy returns what the recovery or restore that made the cluster has given up, and its time.
func madeBy(ids map[string]string) (givenUp []string, at time.Time) {
	var mark struct {
		At      time.Time `json:"at"`
		GivenUp []string  `json:"given-up"`
	}
	if json.Unmarshal([]byte(ids[RecoveryKey]), &mark) != nil {
		return nil, time.Time{}
	}
	foreign.Texts(&mark)
	return mark.GivenUp, mark.At
}

// supersededBy is [SupersededClusters] without own, the cluster that the external_ids belong to: a cluster can't
// replace itself. itself reports whether own was listed.
func supersededBy(own *raft.ID, ids map[string]string) (all []raft.ID, itself bool) {
	all = SupersededClusters(ids)
	if own == nil {
		return all, false
	}
	before := len(all)
	all = slices.DeleteFunc(all, func(id raft.ID) bool { return id == *own })
	return all, len(all) < before
}
