package action

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/backup"
)

// Juju runs actions in the charm's directory, which no person means by a relative path.
func TestListBackups(t *testing.T) {
	t.Parallel()
	t.Run("relative path is refused", func(t *testing.T) {
		t.Parallel()
		_, err := listBackups(t.Context(), Unit{Backup: &backup.Service{}}, params{"path": "backups"})
		require.ErrorContains(t, err, `"backups"`)
	})
}
