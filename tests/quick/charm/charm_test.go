// Package charm_test reads the charm's own files with Juju's code and compares them with each other and with the
// handlers of the binary.
package charm_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/juju/charm/v12"
	"github.com/juju/charm/v12/hooks"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/ovn-central/ovn-central-operator/internal/hook"
)

// root is the directory that Juju would deploy, apart from dispatch.
const root = "../../.."

// unhandled are hooks without a handler that Juju may run: the binary logs them and exits with 0.
var unhandled = map[hooks.Kind]string{
	hooks.CollectMetrics:     "the charm has no metrics.yaml",
	hooks.MeterStatusChanged: "the charm isn't metered",
	hooks.LeaderDeposed:      "Juju never runs it",
	hooks.PreSeriesUpgrade:   "the databases are not touched by an upgrade of the machine",
	hooks.PostSeriesUpgrade:  "the services are started again by systemd",
	hooks.SecretChanged:      "the charm uses no secrets",
	hooks.SecretExpired:      "the charm uses no secrets",
	hooks.SecretRemove:       "the charm uses no secrets",
	hooks.SecretRotate:       "the charm uses no secrets",
}

// readCharm reads the charm once: no test changes the result.
func readCharm(t *testing.T) *charm.CharmDir {
	t.Helper()
	dir, err := readOnce()
	require.NoError(t, err)
	return dir
}

var readOnce = sync.OnceValues(func() (*charm.CharmDir, error) { return charm.ReadCharmDir(root) })

func TestCharm_files_are_accepted_by_Juju(t *testing.T) {
	dir := readCharm(t)
	require.NoError(t, charm.CheckMeta(dir))
	assert.Equal(t, "ovn-central", dir.Meta().Name)
	assert.NotEmpty(t, dir.Meta().Summary)
	assert.Empty(t, dir.Meta().Series, "manifest.yaml says where the charm runs")
}

// Charmhub shows these keys beside the charm. Juju's reader ignores them.
func TestMetadata_links_documents_issues_and_maintainers(t *testing.T) {
	text, err := os.ReadFile(root + "/metadata.yaml")
	require.NoError(t, err)
	links := map[string]any{}
	require.NoError(t, yaml.Unmarshal(text, &links))
	for _, key := range []string{"docs", "issues", "source", "website", "contact"} {
		assert.Regexp(t, `^https://\S+$`, links[key], key)
	}
}

func TestLXDProfile_has_firewall_modules(t *testing.T) {
	profile := readCharm(t).LXDProfile()
	require.NotNil(t, profile)
	require.NoError(t, profile.ValidateConfigDevices())
	assert.Equal(t, map[string]string{"linux.kernel_modules": "ip_tables,ip6_tables"}, profile.Config)
	assert.Empty(t, profile.Devices)
}

func TestManifest_has_all_releases_and_architectures(t *testing.T) {
	var bases []string
	for _, b := range readCharm(t).Manifest().Bases {
		bases = append(bases, b.String())
	}
	assert.Equal(t, []string{
		"ubuntu@22.04/stable on amd64, arm64, ppc64el, s390x",
		"ubuntu@24.04/stable on amd64, arm64, ppc64el, s390x",
		"ubuntu@26.04/stable on amd64, arm64, ppc64el, s390x",
	}, bases)
}

// jujuHooks returns the hooks that Juju may run in a unit of this charm.
func jujuHooks(t *testing.T) []string {
	t.Helper()
	var names []string
	for name := range readCharm(t).Meta().Hooks() {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// handledHooks returns the hooks that need a handler.
func handledHooks(t *testing.T) []string {
	t.Helper()
	return slices.DeleteFunc(jujuHooks(t), func(name string) bool {
		_, left := unhandled[hooks.Kind(name)]
		return left
	})
}

func TestHooks_have_handlers_and_the_reverse(t *testing.T) {
	assert.Equal(t, handledHooks(t), slices.Sorted(slices.Values(hook.Names())))
}

func TestHooks_have_files_and_the_reverse(t *testing.T) {
	files, err := os.ReadDir(root + "/hooks")
	require.NoError(t, err)
	var names []string
	for _, f := range files {
		link, err := os.Readlink(root + "/hooks/" + f.Name())
		require.NoError(t, err, "hooks/%s is not a symbolic link", f.Name())
		assert.Equal(t, "../dispatch", link)
		names = append(names, f.Name())
	}
	assert.Equal(t, handledHooks(t), names)
}

func TestHooks_unhandled_are_known_to_Juju(t *testing.T) {
	known := jujuHooks(t)
	for name, reason := range unhandled {
		assert.Contains(t, known, string(name))
		assert.NotEmpty(t, reason)
	}
}

// deploy returns a copy of the directory deploy with a charm file beside it: Juju requires that the file exists.
func deploy(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(filepath.Join(dir, "deploy"), os.DirFS(filepath.Join(root, "deploy"))))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "build"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "build", "ovn-central_amd64.charm"), nil, 0o644))
	return filepath.Join(dir, "deploy")
}

// Juju's own reader accepts the bundle, and the overlay on it. They set options and endpoints that the charm has.
func TestBundle_is_accepted_by_Juju(t *testing.T) {
	dir := deploy(t)
	base, err := charm.LocalBundleDataSource(dir + "/bundle.yaml")
	require.NoError(t, err)
	overlay, err := charm.LocalBundleDataSource(dir + "/overlay.yaml")
	require.NoError(t, err)
	for _, sources := range [][]charm.BundleDataSource{{base}, {base, overlay}} {
		bundle, err := charm.ReadAndMergeBundleData(sources...)
		require.NoError(t, err)
		require.NoError(t, bundle.Verify(nil, nil, nil))
		central := bundle.Applications["ovn-central"]
		require.NotNil(t, central)
		assert.True(t, strings.HasSuffix(central.Charm, "build/ovn-central_amd64.charm"), central.Charm)
		assert.Equal(t, 3, central.NumUnits)
		for name, application := range bundle.Applications {
			if !strings.HasSuffix(application.Charm, ".charm") { // it is in the store
				assert.NotEmpty(t, application.Channel, name)
			}
		}
		_, err = readCharm(t).Config().ValidateSettings(central.Options)
		require.NoError(t, err)
		haveEndpoints(t, bundle)
	}
}

// haveEndpoints checks that the relations of a bundle are to endpoints that the charm has.
func haveEndpoints(t *testing.T, bundle *charm.BundleData) {
	t.Helper()
	endpoints := readCharm(t).Meta().CombinedRelations()
	for _, relation := range bundle.Relations {
		for _, end := range relation {
			if app, endpoint, _ := strings.Cut(end, ":"); app == "ovn-central" {
				assert.Contains(t, endpoints, endpoint)
			}
		}
	}
}

// A typical bundle of a cloud: the Python charm from the store, in containers, with a channel, a source of the cloud
// archive and options of its layers.
func TestOverlay_puts_charm_into_bundle_of_cloud(t *testing.T) {
	var sources []charm.BundleDataSource
	for _, file := range []string{"testdata/cloud.yaml", deploy(t) + "/overlay.yaml"} {
		source, err := charm.LocalBundleDataSource(file)
		require.NoError(t, err)
		sources = append(sources, source)
	}
	before, err := charm.ReadAndMergeBundleData(sources[0])
	require.NoError(t, err)
	require.Equal(t, "24.03/stable", before.Applications["ovn-central"].Channel, "the premise")
	after, err := charm.ReadAndMergeBundleData(sources...)
	require.NoError(t, err)
	require.NoError(t, after.Verify(nil, nil, nil))

	want := *before.Applications["ovn-central"]
	central := after.Applications["ovn-central"]
	assert.True(t, strings.HasSuffix(central.Charm, "build/ovn-central_amd64.charm"), central.Charm)
	want.Charm = central.Charm
	// Juju stores a local charm file without a channel, and looks for it under the application's channel: addCharm and
	// addApplication of cmd/juju/application/deployer.
	want.Channel = ""
	want.Options = maps.Clone(want.Options)
	want.Options["cluster-status-format"] = "yaml"
	assert.Equal(t, want, *central, "nothing else has changed")
	assert.Equal(t, before.Relations, after.Relations)
	assert.Equal(t, before.Machines, after.Machines)
	_, err = readCharm(t).Config().ValidateSettings(central.Options)
	require.NoError(t, err)
	endpoints := readCharm(t).Meta().CombinedRelations()
	for endpoint := range central.EndpointBindings {
		assert.Contains(t, append(slices.Collect(maps.Keys(endpoints)), ""), endpoint)
	}
	haveEndpoints(t, after)
}
