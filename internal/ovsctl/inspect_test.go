package ovsctl

import (
	"context"
	"crypto/sha1" //nolint:gosec // the file format's own checksum, no secret
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

const (
	recordServer  raft.ID = "e3721f0e-268a-40d7-b26e-880767c003e7"
	recordCluster raft.ID = "9f3a0f21-8ca5-4d27-97f8-48f8f4e790d5"
)

// firstRecord returns the first record of a cluster's file.
func firstRecord() []byte {
	const form = `{"server_id":%q,"cluster_id":%q,"name":"OVN_Northbound","local_address":"tcp:192.0.2.1:6643"}` + "\n"
	text := fmt.Sprintf(form, recordServer, recordCluster)
	sum := sha1.Sum([]byte(text)) //nolint:gosec // the file format's own checksum
	return fmt.Appendf(nil, "OVSDB CLUSTER %d %x\n%s", len(text), sum, text)
}

// ran records programs, and gives them no output.
type ran []string

// Run implements run.Runner.
func (r *ran) Run(_ context.Context, c run.Command) ([]byte, error) {
	*r = append(*r, c.String())
	return nil, nil
}

// The first record of a file may have the whole database, so no program may read it only to describe the file.
func TestInspect_reads_first_record_only(t *testing.T) {
	t.Parallel()
	programs := new(ran)
	f := Files{Runner: programs, Paths: ovndb.Paths{DB: t.TempDir()}}
	path := f.Paths.File(ovndb.NB)
	require.NoError(t, os.WriteFile(path, firstRecord(), 0o600))

	file, err := f.Inspect(t.Context(), ovndb.NB)
	require.NoError(t, err)
	assert.Equal(t, File{
		Path: path, Exists: true, Head: raftfile.Head{
			Clustered: true, Name: "OVN_Northbound", Address: "tcp:192.0.2.1:6643",
			Server: recordServer, Cluster: recordCluster,
		},
	}, file)
	assert.Equal(t, ran{"ovsdb-tool check-cluster " + path}, *programs)
	*programs = nil
	address, err := f.Address(t.Context(), ovndb.NB)
	require.NoError(t, err)
	assert.Equal(t, "tcp:192.0.2.1:6643", address)
	require.NoError(t, os.Rename(path, path+stagedSuffix))
	staged, err := f.Staged(t.Context(), ovndb.NB)
	require.NoError(t, err)
	assert.Equal(t, recordCluster, staged.Cluster)
	assert.Empty(t, *programs)
}
