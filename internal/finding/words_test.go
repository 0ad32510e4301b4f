package finding_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
)

func TestWords_stored_finding_has_detail_as_string(t *testing.T) {
	t.Parallel()
	args := finding.Args{Detail: finding.Said("no space left")}
	stored, err := json.Marshal(args)
	require.NoError(t, err)
	assert.Contains(t, string(stored), `"Detail":"no space left"`)
	var read finding.Args
	require.NoError(t, json.Unmarshal(stored, &read))
	assert.Equal(t, args, read)
}
