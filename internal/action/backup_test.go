package action

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/backup"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
)

func TestRestore_without_such_a_backup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	near := filepath.Join(dir, "20261123T100000Z")
	require.NoError(t, os.Mkdir(near, 0o700))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "20261124T113012Z"), 0o700))
	u := unit(t, new(agent))
	u.Backup = &backup.Service{Files: u.Files}
	u.Backup.Files.Paths.Backups = dir
	for _, from := range []string{"20261123T100000", dir + "/20261123T100001Z", near + "/manifest.json"} {
		err := u.noBackup(t.Context(), params{"from": from}, from)
		reasons := finding.Reasons(err)
		require.Len(t, reasons, 1)
		require.NotEmpty(t, reasons[0].Remedies)
		assert.Equal(t, "juju run ovn-central/0 restore from="+near+" dry-run=true", u.Env.Version.Render(reasons[0].Remedies[0].Command), from)
	}
}
