package backup

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBackupIsRefusedWhereDiskOrMemoryAreTooSmall(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	for name, tt := range map[string]struct{ free, available, total, largest int64 }{
		"empty databases":     {64 * mib, 64 * mib, 0, 0},
		"just enough":         {264 * mib, 704 * mib, 120 * mib, 80 * mib},
		"more than is needed": {1 << 40, 1 << 40, 120 * mib, 80 * mib},
	} {
		require.NoError(t, checkSpace("/backups", tt.free, tt.available, tt.total, tt.largest), name)
	}
	require.EqualError(t, checkSpace("/backups", 264*mib-1, 704*mib, 120*mib, 80*mib),
		"cannot back up: /backups has 263 MiB free, it takes 264; give path= on a larger disk")
	assert.EqualError(t, checkSpace("/backups", 264*mib, 704*mib-1, 120*mib, 80*mib),
		"cannot back up: 703 MiB of memory are available, it may take 704; back up on another unit")
}
