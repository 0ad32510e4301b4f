package backup

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBackupIsRefusedWhereDiskOrMemoryAreTooSmall(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	for name, tt := range map[string]struct{ free, available, small, large int64 }{
		"empty databases":     {64 * mib, 64 * mib, 0, 0},
		"just enough":         {264 * mib, 704 * mib, 40 * mib, 80 * mib},
		"more than is needed": {1 << 40, 1 << 40, 40 * mib, 80 * mib},
	} {
		require.NoError(t, checkNeeds("/backups", tt.free, tt.available, tt.small, tt.large), name)
	}
	require.EqualError(t, checkNeeds("/backups", 264*mib-1, 704*mib, 40*mib, 80*mib),
		"cannot back up: /backups has 263 MiB free, it takes 264; give path= on a larger disk")
	assert.EqualError(t, checkNeeds("/backups", 264*mib, 704*mib-1, 40*mib, 80*mib),
		"cannot back up: 703 MiB of memory are available, it may take 704; back up on another unit")
}
