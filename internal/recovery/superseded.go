package recovery

import (
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// Answer is what a server of another unit says of the cluster that it serves.
type Answer struct {
	// Address is where it was asked.
	Address string
	// Cluster is the one that it serves; empty if that is not known.
	Cluster raft.ID
	// Supersedes are the clusters in whose place its own was put, by their IDs.
	Supersedes []raft.ID
}

// Superseded says why a server of the cluster own is not to be started: another unit's
// server is of one that was put in its place. The statement is the zero value where no answer says so; what did
// not answer says nothing, and neither does a server of the cluster own itself: no cluster takes its
// own place.
func Superseded(own raft.ID, answers []Answer) finding.Statement {
	for _, a := range answers {
		if own != "" && a.Cluster != own && slices.Contains(a.Supersedes, own) {
			return finding.Statement{Line: finding.ClusterReplaced, Args: finding.Args{Address: a.Address, Cluster: own.Brief()}}
		}
	}
	return finding.Statement{}
}
