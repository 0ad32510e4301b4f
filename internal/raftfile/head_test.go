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

// compacted returns a file whose first record has this many bytes of data, in the order in which OVS 3.1 writes them.
func compacted(size int) string {
	text := fmt.Sprintf(`{"prev_eid":"d38e85dc-da38-4a9e-bcee-7e5ebb69a001","cluster_id":%[1]q,"name":"OVN_Northbound",`+
		`"prev_term":3,"prev_data":[{"name":"data"},{"cluster_id":"data","server_id":"%[2]s"}],`+
		`"prev_servers":{%[3]q:"tcp:192.0.2.1:6643"},"server_id":%[3]q,"prev_index":7,`+
		`"local_address":"tcp:192.0.2.1:6643"}`+"\n", headCluster, strings.Repeat("x", size), headServer)
	return recordText(text)
}

func recordText(text string) string {
	return fmt.Sprintf("OVSDB CLUSTER %d %x\n%s", len(text), sha1.Sum([]byte(text)), text) //nolint:gosec // see above
}

// read counts the bytes that are read.
type read struct {
	io.Reader
	bytes int
}

func (r *read) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.bytes += n
	return n, err
}

// In a compacted file, the first record has the whole database.
func TestReadHead(t *testing.T) {
	t.Parallel()
	path := ovndb.Paths{DB: t.TempDir()}.File(ovndb.NB)
	require.NoError(t, os.WriteFile(path, []byte(compacted(1<<20)), 0o600))
	head, err := ReadHead(t.Context(), path)
	require.NoError(t, err)
	assert.Equal(t, Head{
		Clustered: true, Name: "OVN_Northbound", Address: "tcp:192.0.2.1:6643", Server: headServer, Cluster: headCluster,
	}, head)
}

// Cluster runs before each start of a server, so it must be quick for any size.
func TestCluster_reads_no_data(t *testing.T) {
	t.Parallel()
	file := &read{Reader: strings.NewReader(compacted(1 << 20))}
	id, err := clusterOf(file)
	require.NoError(t, err)
	assert.Equal(t, headCluster, id)
	assert.LessOrEqual(t, file.bytes, 16<<10)
}

func TestReadHead_damaged(t *testing.T) {
	t.Parallel()
	whole := compacted(100)
	path := ovndb.Paths{DB: t.TempDir()}.File(ovndb.NB)
	for name, text := range map[string]string{
		"checksum":  strings.Replace(whole, "xxx", "xxy", 1),
		"cut_off":   whole[:len(whole)-1],
		"no_server": recordText("{}\n") + whole,
	} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		head, err := ReadHead(t.Context(), path)
		require.ErrorContains(t, err, path, name)
		assert.Empty(t, head, name)
	}
}
