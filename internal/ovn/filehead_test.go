package ovn

import (
	"context"
	"crypto/sha1" //nolint:gosec // the file format's own checksum, no secret
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

const (
	headServer  raft.ID = "e3721f0e-268a-40d7-b26e-880767c003e7"
	headCluster raft.ID = "9f3a0f21-8ca5-4d27-97f8-48f8f4e790d5"
)

// compacted is the file of a server whose first record has so many bytes of data, in the order
// in which OVS 3.1 writes its members.
func compacted(size int) string {
	text := fmt.Sprintf(`{"prev_eid":"d38e85dc-da38-4a9e-bcee-7e5ebb69a001","cluster_id":%q,"name":"OVN_Northbound","prev_term":3,`+
		`"prev_data":[{"name":"data"},{"cluster_id":"data","server_id":"%s"}],"prev_servers":{%q:"tcp:192.0.2.1:6643"},"server_id":%q,"prev_index":7,"local_address":"tcp:192.0.2.1:6643"}`+"\n",
		headCluster, strings.Repeat("x", size), headServer, headServer)
	return fmt.Sprintf("OVSDB CLUSTER %d %x\n%s", len(text), sha1.Sum([]byte(text)), text) //nolint:gosec // see above
}

// ran are the programs that were run, which said nothing.
type ran []string

// Run implements run.Runner.
func (r *ran) Run(_ context.Context, c run.Command) ([]byte, error) {
	*r = append(*r, c.String())
	return nil, nil
}

// read counts what is read.
type read struct {
	io.Reader
	bytes int
}

func (r *read) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.bytes += n
	return n, err
}

// The whole database stands in the first record of a file that was compacted: no program
// reads it into its memory to say whose file it is.
func TestFileWithAllDataInItsFirstRecordSaysWhoseItIsWithoutAProgram(t *testing.T) {
	t.Parallel()
	programs := new(ran)
	f := Files{Runner: programs, Paths: ovndb.Paths{DB: t.TempDir()}}
	path := f.Paths.File(ovndb.NB)
	require.NoError(t, os.WriteFile(path, []byte(compacted(1<<20)), 0o600))

	file, err := f.Inspect(t.Context(), ovndb.NB)
	require.NoError(t, err)
	assert.Equal(t, File{Path: path, Exists: true, Clustered: true, Name: "OVN_Northbound", Server: headServer, Cluster: headCluster}, file)
	assert.Equal(t, ran{"ovsdb-tool check-cluster " + path}, *programs, "and that is asked whether it has left")
	*programs = nil
	address, err := f.Address(t.Context(), ovndb.NB)
	require.NoError(t, err)
	assert.Equal(t, "tcp:192.0.2.1:6643", address)
	id, err := f.Cluster(t.Context(), ovndb.NB)
	require.NoError(t, err)
	assert.Equal(t, headCluster, id)
	require.NoError(t, os.Rename(path, path+stagedSuffix))
	staged, err := f.Staged(t.Context(), ovndb.NB)
	require.NoError(t, err)
	assert.Equal(t, headCluster, staged.Cluster)
	assert.Empty(t, *programs)
}

// What decides whether a server is started has seconds for it, however large the database is.
func TestClusterOfAFileIsFoundBeforeItsData(t *testing.T) {
	t.Parallel()
	file := &read{Reader: strings.NewReader(compacted(1 << 20))}
	id, err := clusterOf(file)
	require.NoError(t, err)
	assert.Equal(t, headCluster, id)
	assert.LessOrEqual(t, file.bytes, 16<<10)
}

func TestDamagedFirstRecordSaysNothing(t *testing.T) {
	t.Parallel()
	whole := compacted(100)
	for name, text := range map[string]string{
		"another checksum": strings.Replace(whole, "xxx", "xxy", 1),
		"cut off":          whole[:len(whole)-1],
		"no server":        strings.Replace(whole, "OVSDB CLUSTER", "OVSDB CLUSTER 3 "+fmt.Sprintf("%x", sha1.Sum([]byte("{}\n")))+"\n{}\n", 1), //nolint:gosec // see above
	} {
		f := Files{Runner: new(ran), Paths: ovndb.Paths{DB: t.TempDir()}}
		path := f.Paths.File(ovndb.NB)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		file, err := f.Inspect(t.Context(), ovndb.NB)
		require.ErrorContains(t, err, "cannot read "+path, name)
		assert.Empty(t, file.Server, name)
	}
}
