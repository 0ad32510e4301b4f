package membership

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
)

// R5: one write of a large database may take longer than the whole time of a small one's
// lock: a holder that renews in time must not lose it to another unit meanwhile.
func TestR5_lock_TTL_exceeds_slowest_renewal(t *testing.T) {
	t.Parallel()
	c := &Changer{Machine: &observe.Machine{Control: ovsctl.Control{Paths: ovndb.Paths{DB: t.TempDir()}}}}
	for size, want := range map[int64]time.Duration{
		0: 17 * time.Second, 160 << 20: 77 * time.Second, 1 << 40: 287 * time.Second,
	} {
		file, err := os.Create(c.Control.Paths.File(ovndb.SB))
		require.NoError(t, err)
		require.NoError(t, file.Truncate(size))
		require.NoError(t, file.Close())
		ttl := c.lockTTL(ovndb.SB, time.Second)
		assert.Equal(t, want, ttl, "%d bytes", size)
		assert.Greater(t, ttl-ttl/3, c.StorePatience(ovndb.SB), "%d bytes: it is renewed after a third", size)
	}
}
