package recovery

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// Each unit reports a request made on any unit, and the units that it waits for.
func TestProgress(t *testing.T) {
	t.Parallel()
	assert.Empty(t, of(3).Progress(), "none was asked for")

	s := publisher()
	s.Peers[0].Request.Backup, s.Peers[0].Request.Asked = "/var/backups/b", noon
	s.Peers[0].Reached = false
	assert.Equal(t, []finding.Statement{{
		Database: ovndb.NB, Line: finding.RestoreAsked,
		Args: finding.Args{Unit: unit(1), Time: noon, Path: "/var/backups/b", Units: []string{unit(2)}, Cluster: one.Brief()},
		More: []finding.Line{finding.AddGivesUp, finding.AddUnaccepted, finding.AddMade},
	}}, s.Progress())

	s.Cluster = one
	assert.Empty(t, s.Progress(), "it is over")
}
