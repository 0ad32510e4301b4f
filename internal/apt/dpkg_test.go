package apt_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/apt"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

func TestInstalled_from_files_of_dpkg(t *testing.T) {
	t.Parallel()
	const (
		other = "Package: ovn-central-doc\nStatus: install ok installed\nVersion: 9\n\n"
		ovs   = "Package: openvswitch-common\nStatus: install ok installed\nVersion: 3.1.0-2\n\n"
		whole = "Package: ovn-central\nStatus: install ok installed\nPriority: optional\nVersion: 23.03.1-1\n\n"
		half  = "Package: ovn-central\nStatus: install ok half-configured\nVersion: 24.03.2-1\n"
		gone  = "Package: ovn-central\nStatus: deinstall ok config-files\nVersion: 23.03.1-1\n\n"
	)
	installed := ovndb.Version{OVN: "23.03.1-1", OVS: "3.1.0-2"}
	upgrading := ovndb.Version{OVN: "24.03.2-1", OVS: "3.1.0-2"}
	for name, tt := range map[string]struct {
		status  string
		updates map[string]string
		want    ovndb.Version
		ok      bool
	}{
		"missing":       {other, nil, ovndb.Version{}, false},
		"last":          {other + ovs + whole, nil, installed, true},
		"first":         {whole + ovs, nil, installed, true},
		"interrupted":   {ovs + half, nil, upgrading, false},
		"removed":       {ovs + gone, nil, ovndb.Version{}, false},
		"update":        {whole + ovs, map[string]string{"0001": whole, "0002": half, "tmp.i": whole}, upgrading, false},
		"other_updates": {whole + ovs, map[string]string{"0000": other}, installed, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			admin := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(admin, "status"), []byte(tt.status), 0o600))
			require.NoError(t, os.Mkdir(filepath.Join(admin, "updates"), 0o700))
			for file, text := range tt.updates {
				require.NoError(t, os.WriteFile(filepath.Join(admin, "updates", file), []byte(text), 0o600))
			}
			version, ok, err := apt.Packages{Admin: admin}.Installed(t.Context())
			require.NoError(t, err)
			assert.Equal(t, tt.want, version)
			assert.Equal(t, tt.ok, ok)
		})
	}
}
