package packages

import (
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/apt"
	"github.com/ovn-central/ovn-central-operator/internal/facts"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/run/runtest"
	"github.com/ovn-central/ovn-central-operator/internal/systemd"
	"github.com/ovn-central/ovn-central-operator/internal/unitstate"
)

// manager returns a manager with the state last, on a machine that runs these commands.
func manager(t *testing.T, last kept, calls ...runtest.Call) *Manager {
	t.Helper()
	root, log := t.TempDir(), slog.New(slog.DiscardHandler)
	state, err := unitstate.Open(filepath.Join(root, "state.json"), log)
	require.NoError(t, err)
	require.NoError(t, section.Set(state, last))
	runner := runtest.New(t, calls...)
	paths := ovndb.Paths{Etc: filepath.Join(root, "etc", "ovn"), DB: filepath.Join(root, "lib", "ovn")}
	return &Manager{
		Packages: apt.Packages{Runner: runner, Paths: paths},
		Policy:   apt.Policy{Runner: runner, Paths: paths, App: "ovn-central"},
		Mask:     systemd.Services{Runner: runner}.Mask, State: state, Log: log,
	}
}

// from returns the facts of a unit with packages of this source.
func from(source string) (o facts.Facts) {
	o.Known.Settings.Source = source
	return o
}

// query returns the question for the installed versions.
func query() runtest.Call {
	return runtest.Expect("dpkg-query", "--show", `--showformat=${Package} ${db:Status-Status} ${Version}\n`,
		"ovn-central", "openvswitch-common")
}

var services = []string{"ovn-northd", "ovn-ovsdb-server-nb", "ovn-ovsdb-server-sb", "ovn-central"}

// The archive may be unreachable; dpkg needs no archive.
func TestInstall_finishes_an_interrupted_upgrade_without_a_source(t *testing.T) {
	t.Parallel()
	m := manager(t, kept{Source: "cloud:jammy-caracal"},
		runtest.Expect("apt-get", "--quiet", "check"),
		runtest.Expect("systemctl", append([]string{"mask", "--runtime"}, services...)...),
		runtest.Expect("dpkg", "--force-confold", "--configure", "--pending"),
		runtest.Expect("systemctl", append([]string{"unmask", "--runtime"}, services...)...),
		query().Writes("ovn-central installed 25.03\n"),
	)
	require.NoError(t, m.Install(t.Context(), from("cloud:jammy-caracal")))
	assert.Equal(t, "cloud:jammy-caracal", m.Source())
}

func TestInstall_masks_the_services_first(t *testing.T) {
	t.Parallel()
	m := manager(t, kept{}, runtest.Expect("systemctl", append([]string{"mask"}, services...)...).Fails(1, "no\n"))
	require.Error(t, m.Install(t.Context(), from("distro")))
	assert.Empty(t, m.Source())
}

// The manager asks dpkg once a hook.
func TestInstalled_is_remembered(t *testing.T) {
	t.Parallel()
	m := manager(t, kept{}, query().Writes("ovn-central installed 25.03\nopenvswitch-common installed 3.5\n"))
	for range 2 {
		version, complete, err := m.Installed(t.Context())
		require.NoError(t, err)
		assert.Equal(t, ovndb.Version{OVN: "25.03", OVS: "3.5"}, version)
		assert.True(t, complete)
	}
}

func TestAdopt(t *testing.T) {
	t.Parallel()
	check := runtest.Expect("apt-get", "--quiet", "check")
	adopted, unfinished := kept{Adopted: true, Source: "distro"}, query().Writes("ovn-central half-configured 25.03\n")
	for name, c := range map[string]struct {
		calls []runtest.Call
		want  kept
	}{
		"installed":  {[]runtest.Call{query().Writes("ovn-central installed 25.03\n")}, adopted},
		"unfinished": {[]runtest.Call{unfinished, check, unfinished}, adopted},
		"missing":    {[]runtest.Call{query(), check, query()}, kept{}},
	} {
		m := manager(t, kept{}, c.calls...)
		_, _, err := m.Adopt(t.Context(), "distro")
		require.NoError(t, err, name)
		assert.Equal(t, c.want, section.Get(m.State), name)
	}
}

// A failure is reported until a later hook succeeds. Unless Thorough is set, only a failure is tried again.
func TestEnsure_policy(t *testing.T) {
	t.Parallel()
	m := manager(t, kept{PolicyFailure: "no"})
	install := runtest.Expect("update-alternatives", "--install", "/usr/sbin/policy-rc.d", "policy-rc.d",
		filepath.Join(filepath.Dir(m.Policy.Paths.DB), "charm", "ovn-central", "policy-rc.d"), "40")
	policy := filepath.Join(filepath.Dir(m.Policy.Paths.Etc), "policy-rc.d", "charm-ovn-central.policy")
	m.Policy.Runner = runtest.New(t, install.Fails(2, "read-only file system\n"))
	found, err := m.Ensure(t.Context(), facts.Facts{})
	require.NoError(t, err)
	require.Len(t, found, 1)
	assert.Equal(t, finding.PolicyFailed, found[0].Code)
	assert.FileExists(t, policy)

	var o facts.Facts
	o.Known.Settings.AutoRestarts = true
	invalid, preview := o, o
	invalid.Known.Invalid = map[string]finding.Args{plan.OptionAutoRestarts: {Value: "maybe"}}
	preview.Preview = true
	for _, unchanged := range []facts.Facts{invalid, preview} {
		found, err = m.Ensure(t.Context(), unchanged)
		require.NoError(t, err)
		assert.Len(t, found, 1, "an invalid option and a preview change nothing")
		assert.FileExists(t, policy)
	}

	for _, allowed := range []bool{true, false} { // the second call has nothing to do
		o.Known.Settings.AutoRestarts = allowed
		found, err = m.Ensure(t.Context(), o)
		require.NoError(t, err)
		assert.Empty(t, found)
		assert.NoFileExists(t, policy)
	}
}
