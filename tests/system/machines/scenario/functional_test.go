package scenario

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/system/machines"
)

// TestMembership_on_packages_of_suite runs tests/integration/membership with OVS ≥ 3.3.5, whose leave differs.
func TestMembership_on_packages_of_suite(t *testing.T) {
	if suite() == hostSuite {
		t.Skipf("make test-integration runs the same tests on the packages of %s", hostSuite)
	}
	source, err := filepath.Abs(root)
	require.NoError(t, err)
	// Go itself comes along, with all that it has downloaded and built: the machine reaches no network.
	shares := []machines.Share{{Host: source, Machine: "/srv/source", ReadOnly: true}}
	environment := []string{"GOFLAGS=-buildvcs=false -mod=readonly", "GOPROXY=off", "GOTOOLCHAIN=local", "CGO_ENABLED=0"}
	for _, name := range []string{"GOROOT", "GOMODCACHE", "GOCACHE"} {
		dir := goEnv(t, name)
		shares = append(shares, machines.Share{Host: dir, Machine: "/srv/go/" + name, ReadOnly: name != "GOCACHE"})
		environment = append(environment, name+"=/srv/go/"+name)
	}
	ctx, fleet := open(t, machines.Options{Shares: shares})
	booted, err := fleet.Boot(ctx, 1)
	require.NoError(t, err)
	m := booted[0]
	_, err = m.Shell(ctx, `apt-get -q update; apt-get -q -y install ovn-central
systemctl disable -q --now ovn-central ovn-northd ovn-ovsdb-server-nb ovn-ovsdb-server-sb`)
	require.NoError(t, err)

	script := `cd /srv/source; export PATH="/srv/go/GOROOT/bin:$PATH"; exec env "$@" go test -count=1 -parallel 6 -timeout 30m ./tests/integration/membership`
	out, err := m.Shell(ctx, script, environment...)
	require.NoError(t, err)
	t.Log(out)
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", name).Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(out))
}

// newerVariable names the suite from which OVN is upgraded.
const newerVariable = "E2E_NEWER"

// newerSource is a line of sources.list with the packages of [newer].
const newerSource = "deb [trusted=yes] file:" + machines.NewerPackages + " ./"

func newer() string { return cmp.Or(os.Getenv(newerVariable), "trixie") }

// runs returns the versions of a machine's servers and of the schemas that they serve.
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
