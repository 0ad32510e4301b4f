package scenario

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/system/machines"
)

// newerVariable names the suite to whose packages of OVN those of the machines are
// upgraded.
const newerVariable = "E2E_NEWER"

// newerSource is a line of sources.list with the packages of [newer].
const newerSource = "deb [trusted=yes] file:" + machines.NewerPackages + " ./"

// newer is the suite to upgrade to.
func newer() string { return cmp.Or(os.Getenv(newerVariable), "trixie") }

// TestGroundRunsPackagesOfTwoReleases tests what the story of an upgrade relies on:
// without the charm, packages of a newer suite replace the older ones, and
// their programs run.
func TestGroundRunsPackagesOfTwoReleases(t *testing.T) {
	ctx, fleet := open(t, machines.Options{Newer: newer()})
	all, err := fleet.Boot(ctx, 1)
	require.NoError(t, err)
	m := all[0]
	_, err = m.Shell(ctx, `apt-get -q update; apt-get -q -y install ovn-central`)
	require.NoError(t, err)
	before := runs(ctx, t, m)
	_, err = m.Shell(ctx, `echo "$1" >/etc/apt/sources.list.d/newer.list
apt-get -q update; apt-get -q -y install --only-upgrade ovn-central ovn-common openvswitch-common`, newerSource)
	require.NoError(t, err)
	after := runs(ctx, t, m)
	t.Logf("from %v to %v", before, after)
	for _, db := range databases {
		assert.NotEqual(t, before[db.short], after[db.short], "the server of %s", db.schema)
	}
	_, err = m.Shell(ctx, `ovn-nbctl --wait=sb --timeout=20 ls-add net; ovn-sbctl --timeout=20 list Datapath_Binding | grep -q name=net`)
	assert.NoError(t, err, "ovn-northd of the newer release works")
}

// runs are the versions of a machine's servers and of the schemas that they serve.
func runs(ctx context.Context, t *testing.T, m *machines.Machine) map[string]string {
	t.Helper()
	versions := map[string]string{}
	for _, db := range databases {
		eventually(ctx, t, convergence, func() error {
			out, err := m.Shell(ctx, `ovs-appctl --timeout=5 -t /var/run/ovn/ovn$1_db.ctl version | head -n 1
ovsdb-client --timeout=5 get-schema-version unix:/var/run/ovn/ovn$1_db.sock $2`, db.short, db.schema)
			versions[db.short] = fmt.Sprintf("%q", out)
			return err
		})
	}
	return versions
}
