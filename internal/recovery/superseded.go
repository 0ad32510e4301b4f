package recovery

import (
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// Answer is the answer of another unit's server about the cluster that it serves.
type Answer struct {
	// Address is the server's.
	Address string
	// Cluster is the cluster that it serves; empty if unknown.
	Cluster raft.ID
	// Supersedes are the clusters that its cluster has replaced.
	Supersedes []raft.ID
}

// Superseded returns why a server of the cluster own must not be started: another unit's server serves a cluster that
// has replaced it. It is the zero value if no answer reports that. An answer of the cluster own itself doesn't count:
// no cluster replaces itself.
func Superseded(own raft.ID, answers []Answer) finding.Statement {
	for _, a := range answers {
		if own != "" && a.Cluster != own && slices.Contains(a.Supersedes, own) {
			return finding.Statement{Line: finding.ClusterReplaced, Args: finding.Args{Address: a.Address, Cluster: own.Brief()}}
		}
	}
	return finding.Statement{}
}
