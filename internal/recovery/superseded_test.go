package recovery

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

func TestSuperseded(t *testing.T) {
	t.Parallel()
	const other = "aaaaaaaa-e8e4-4719-b344-902444227dd7"
	silent, served := Answer{}, Answer{Address: "10.0.0.2", Supersedes: []raft.ID{other, old}}
	assert.Empty(t, Superseded(old, nil), "no unit is known")
	assert.Empty(t, Superseded(old, []Answer{silent, {Address: "10.0.0.3"}}), "none says so")
	assert.Empty(t, Superseded(old, []Answer{{Address: "10.0.0.3", Supersedes: []raft.ID{other}}}),
		"another cluster was given up")
	assert.Empty(t, Superseded("", []Answer{served, {Supersedes: []raft.ID{""}}}), "a copy that has not joined yet")
	assert.Empty(t, Superseded(old, []Answer{{Cluster: old, Supersedes: []raft.ID{old}}}), "a cluster that names itself")
	assert.NotEmpty(t, Superseded(old, []Answer{{Cluster: other, Supersedes: []raft.ID{other, old}}}),
		"one that names itself and the old one")
	assert.Equal(t, finding.Statement{
		Line: finding.ClusterReplaced, Args: finding.Args{Address: "10.0.0.2", Cluster: old.Brief()},
	}, Superseded(old, []Answer{silent, served}))
}
