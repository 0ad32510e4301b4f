package raftfile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
)

func TestSchemaVersion(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"name":"OVN_Northbound","version":"7.0.0","tables":{}}`:              "7.0.0",
		`{"tables":{"version":{"columns":{"version":"1"}}},"version":"7.0.0"}`: "7.0.0",
		`{"version":"7.0.0","tables":`:                                         "7.0.0", // the rest is not read
		`{"name":"OVN_Northbound"}`:                                            "",
		`{"version":7}`:                                                        "",
		`["version"]`:                                                          "",
		`{"name"`:                                                              "",
		``:                                                                     "",
	} {
		path := filepath.Join(t.TempDir(), "schema")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		version, err := raftfile.SchemaVersion(path)
		assert.Equal(t, want, version, text)
		assert.Equal(t, want == "", err != nil, text)
	}
}
