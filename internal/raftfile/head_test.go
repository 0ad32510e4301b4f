package raftfile

import (
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

// The first record of a file that was compacted holds the whole database.
func TestHeadOfAFileWithAllDataInItsFirstRecordSaysWhoseItIs(t *testing.T) {
	t.Parallel()
	path := ovndb.Paths{DB: t.TempDir()}.File(ovndb.NB)
	require.NoError(t, os.WriteFile(path, []byte(compacted(1<<20)), 0o600))
	head, err := ReadHead(t.Context(), path)
	require.NoError(t, err)
	assert.Equal(t, Head{Clustered: true, Name: "OVN_Northbound", Address: "tcp:192.0.2.1:6643", Server: headServer, Cluster: headCluster}, head)
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
		path := ovndb.Paths{DB: t.TempDir()}.File(ovndb.NB)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		head, err := ReadHead(t.Context(), path)
		require.ErrorContains(t, err, "cannot read "+path, name)
		assert.Empty(t, head.Server, name)
	}
}
