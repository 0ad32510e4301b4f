package node

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestGatewaysThatAreCreatedOrDeletedHaveNotMovedOn(t *testing.T) {
	t.Parallel()
	before := map[string]string{"a": "c2", "b": "c3"}
	assert.True(t, stayed(before, map[string]string{"a": "c2", "new": "c4"}))
	assert.False(t, stayed(before, map[string]string{"a": "c3", "b": "c3"}))
	assert.False(t, stayed(before, map[string]string{"a": "", "b": "c3"}))
}
