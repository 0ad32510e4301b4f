//go:build programs

package apt_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/apt"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/run"
	"github.com/ovn-central/ovn-central-operator/internal/run/runtest"
)

// The calls of systemctl around every change of packages.
const (
	hold   = "mask --runtime ovn-northd ovn-ovsdb-server-nb ovn-ovsdb-server-sb ovn-central"
	unhold = "unmask --runtime ovn-northd ovn-ovsdb-server-nb ovn-ovsdb-server-sb ovn-central"
)

func versionOf(t *testing.T, p apt.Packages) string {
	t.Helper()
	version, ok, err := p.Installed(t.Context())
	require.NoError(t, err)
	assert.Equal(t, version.OVN != "", ok)
	return version.String()
}

func TestInstall_masks_services_meanwhile(t *testing.T) {
	a := newArchive(t)
	a.publish(t, "ovn-central", "23.03.1-1", "")
	p := a.packages()
	assert.Empty(t, versionOf(t, p))
	require.NoError(t, p.SetSources(t.Context(), a.source(t)))
	require.NoError(t, p.Install(t.Context()))
	assert.Equal(t, "23.03.1-1", versionOf(t, p))
	assert.Equal(t, []string{hold, "ovn-central configure 23.03.1-1", unhold}, a.happened(t))

	require.NoError(t, p.Install(t.Context()))
	assert.Empty(t, a.happened(t))
}

func TestUpgrade_masks_services_meanwhile(t *testing.T) {
	a := newArchive(t)
	a.publish(t, "ovn-central", "22.03.0-1", "")
	p := a.ready(t)
	require.NoError(t, p.Install(t.Context()))
	options := filepath.Join(a.dir, "root/etc/default/ovn-central")
	require.NoError(t, os.WriteFile(options, []byte("OVN_CTL_OPTS=ours\n"), 0o600))
	a.happened(t)

	a.publish(t, "ovn-central", "23.03.1-1", "")
	a.publish(t, "ovn-common", "23.03.1-1", "") // not installed, and stays so
	require.NoError(t, p.Update(t.Context()))
	assert.Empty(t, a.happened(t))
	require.NoError(t, p.Upgrade(t.Context()))
	assert.Equal(t, "23.03.1-1", versionOf(t, p))
	assert.Equal(t, []string{hold, "ovn-central configure 23.03.1-1", unhold}, a.happened(t))
	text, err := os.ReadFile(options)
	require.NoError(t, err)
	assert.Equal(t, "OVN_CTL_OPTS=ours\n", string(text))

	require.NoError(t, p.Upgrade(t.Context()))
	assert.Equal(t, []string{hold, unhold}, a.happened(t))
}

func TestInstall_half_configured_package(t *testing.T) {
	a := newArchive(t)
	a.publish(t, "ovn-central", "23.03.1-1", `test ! -e "$CALLS.fail"`)
	p := a.ready(t)
	fail := filepath.Join(a.played, "calls.fail")
	require.NoError(t, os.WriteFile(fail, nil, 0o600))
	err := p.Install(t.Context())
	require.ErrorContains(t, err, "dpkg: error processing package ovn-central (--configure)")
	version, ok, err := p.Installed(t.Context())
	require.NoError(t, err)
	assert.False(t, ok)
	assert.Equal(t, "23.03.1-1", version.OVN)
	assert.Equal(t, unhold, a.happened(t)[2])

	require.NoError(t, os.Remove(fail))
	require.NoError(t, p.Install(t.Context()))
	assert.Equal(t, "23.03.1-1", versionOf(t, p))
}

func TestUpgrade_after_killed_dpkg(t *testing.T) {
	a := newArchive(t)
	a.publish(t, "ovn-central", "22.03.0-1", "")
	p := a.ready(t)
	require.NoError(t, p.Install(t.Context()))
	a.publish(t, "ovn-central", "23.03.1-1", "")
	require.NoError(t, p.Update(t.Context()))
	// A change of a package's state that dpkg has written and not yet merged.
	status, err := os.ReadFile(filepath.Join(a.dir, "dpkg/status"))
	require.NoError(t, err)
	a.write(t, "dpkg/updates/0000", strings.TrimSpace(string(status))+"\n")
	require.NoError(t, p.Upgrade(t.Context()))
	assert.Equal(t, "23.03.1-1", versionOf(t, p))
}

// After a power failure while dpkg unpacks a package, dpkg can configure neither that package nor its dependents.
func TestInstall_half_unpacked_package(t *testing.T) {
	for _, half := range []string{"ovn-common", "ovn-central"} {
		t.Run(half, func(t *testing.T) {
			a := newArchive(t)
			for _, version := range []string{"22.03.0-1", "23.03.1-1"} {
				a.publish(t, "ovn-common", version, "")
				a.publish(t, "ovn-central", version, "", "Depends: ovn-common (= "+version+")")
			}
			p := a.ready(t)
			require.NoError(t, p.Install(t.Context()))

			// dpkg leaves the older version of one package, and the newer version of the other.
			older := strings.NewReplacer("(= 23.03.1-1)", "(= 22.03.0-1)", "Version: 23.03.1-1", "Version: 22.03.0-1",
				"Status: install ok installed", "Status: install reinstreq half-installed")
			text, err := os.ReadFile(filepath.Join(a.dir, "dpkg/status"))
			require.NoError(t, err)
			paragraphs := strings.Split(strings.TrimSpace(string(text)), "\n\n")
			require.Len(t, paragraphs, 2)
			for i, paragraph := range paragraphs {
				if strings.HasPrefix(paragraph, "Package: "+half+"\n") {
					paragraph = older.Replace(paragraph)
				}
				paragraphs[i] = strings.Replace(paragraph, "\nStatus: install ok installed\n", "\nStatus: install ok unpacked\n", 1)
			}
			a.write(t, "dpkg/status", strings.Join(paragraphs, "\n\n")+"\n\n")
			a.write(t, "dpkg/updates/0000", paragraphs[1]+"\n")

			_, ok, err := p.Installed(t.Context())
			require.NoError(t, err)
			assert.False(t, ok)
			require.NoError(t, p.Install(t.Context()))
			assert.Equal(t, "23.03.1-1", versionOf(t, p))
			states := a.tool(t, "dpkg-query", "--show", "--showformat=${Package} ${db:Status-Abbrev} ${Version}\n")
			assert.Equal(t, "ovn-central ii  23.03.1-1\novn-common ii  23.03.1-1\n", states)
		})
	}
}

// take locks a file as apt and dpkg do, until the returned function is called.
func take(t *testing.T, path string) (release func()) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o640)
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.Close() }) // most tests have released it already
	require.NoError(t, syscall.FcntlFlock(f.Fd(), syscall.F_SETLK, &syscall.Flock_t{Type: syscall.F_WRLCK}))
	return func() { _ = f.Close() }
}

func TestPackages_wait_for_lock(t *testing.T) {
	for name, path := range map[string]string{
		"of apt": "dpkg/lock-frontend", "of dpkg": "dpkg/lock", "of the lists": "state/lists/lock",
	} {
		t.Run(name, func(t *testing.T) {
			a := newArchive(t)
			a.publish(t, "ovn-central", "1", "")
			p := a.ready(t)
			time.AfterFunc(700*time.Millisecond, take(t, filepath.Join(a.dir, path)))
			require.NoError(t, p.Update(t.Context()))
			require.NoError(t, p.Install(t.Context()))
			assert.Equal(t, "1", versionOf(t, p))
		})
	}
}

// An unattended upgrade restarts the services. A service that is masked after its stop would stay down.
func TestInstall_waits_for_other_process(t *testing.T) {
	a := newArchive(t)
	a.publish(t, "ovn-central", "1", "while [ ! -e $CALLS.on ]; do sleep 0.05; done")
	p := a.ready(t)
	other := exec.CommandContext(t.Context(), "apt-get", "--yes", "install", "ovn-central")
	require.NoError(t, other.Start())
	installs := make(chan error, 1)
	require.Eventually(t, func() bool {
		text, err := os.ReadFile(filepath.Join(a.played, "calls"))
		return err == nil && strings.Contains(string(text), "ovn-central configure 1")
	}, 30*time.Second, 20*time.Millisecond)
	_, ok, err := p.Installed(t.Context())
	require.NoError(t, err)
	require.False(t, ok)
	go func() { installs <- p.Install(t.Context()) }()
	select {
	case err := <-installs:
		t.Fatalf("Install did not wait: %v", err)
	case <-time.After(300 * time.Millisecond):
	}
	assert.Equal(t, []string{"ovn-central configure 1"}, a.happened(t))
	require.NoError(t, os.WriteFile(filepath.Join(a.played, "calls.on"), nil, 0o600))
	require.NoError(t, other.Wait())
	require.NoError(t, <-installs)
	assert.Equal(t, "1", versionOf(t, p))
	assert.Equal(t, []string{hold, unhold}, a.happened(t), "configured once")
}

func TestPackages_lock_is_never_released(t *testing.T) {
	a := newArchive(t)
	a.publish(t, "ovn-central", "1", "")
	p := a.ready(t)
	p.Patience = 300 * time.Millisecond
	release := take(t, filepath.Join(a.dir, "dpkg/lock-frontend"))
	err := p.Install(t.Context())
	require.ErrorIs(t, err, apt.ErrLocked)
	assert.Empty(t, a.happened(t), "no service is masked")
	release()

	take(t, filepath.Join(a.dir, "state/lists/lock"))
	err = p.Update(t.Context())
	require.ErrorIs(t, err, apt.ErrLocked)
	require.ErrorContains(t, err, "state/lists/lock")
}

func TestInstall_timeout_unmasks_services(t *testing.T) {
	a := newArchive(t)
	a.publish(t, "ovn-central", "1", "exec sleep 60")
	p := a.ready(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	start := time.Now()
	require.ErrorIs(t, p.Install(ctx), context.DeadlineExceeded)
	assert.Less(t, time.Since(start), 20*time.Second)
	happened := a.happened(t)
	assert.Equal(t, unhold, happened[len(happened)-1])
}

func TestInstall_failed_mask_changes_nothing(t *testing.T) {
	a := newArchive(t)
	a.publish(t, "ovn-central", "1", "")
	p := a.ready(t)
	runtest.Install(t, map[string]string{"systemctl": `echo "Access denied" >&2; exit 1`})
	require.ErrorContains(t, p.Install(t.Context()), "systemctl: Access denied")
	assert.Empty(t, versionOf(t, p))
}

// An upgrade may bring only a newer openvswitch-common, which has ovsdb-server.
func TestUpgrade_newer_Open_vSwitch_only(t *testing.T) {
	a := newArchive(t)
	a.publish(t, "ovn-central", "23.03.1-1", "")
	a.publish(t, "openvswitch-common", "3.1.0-2", "")
	p := a.ready(t)
	require.NoError(t, p.Install(t.Context()))
	a.tool(t, "apt-get", "--yes", "install", "openvswitch-common")
	assert.Equal(t, "23.03.1-1 openvswitch 3.1.0-2", versionOf(t, p))
	a.publish(t, "openvswitch-common", "4.0.0-1", "")
	require.NoError(t, p.Update(t.Context()))
	require.NoError(t, p.Upgrade(t.Context()))
	assert.Equal(t, "23.03.1-1 openvswitch 4.0.0-1", versionOf(t, p))
}

func TestInstalled_files_agree_with_dpkg_query(t *testing.T) {
	t.Parallel()
	asked, ok, err := apt.Packages{Runner: run.Exec{}}.Installed(t.Context())
	require.NoError(t, err)
	read, also, err := apt.Packages{Admin: apt.DpkgAdmin}.Installed(t.Context())
	require.NoError(t, err)
	assert.True(t, ok, "this machine has the package")
	assert.Equal(t, asked, read)
	assert.Equal(t, ok, also)
}

// asNeedrestart reads a file of conf.d and decides whether to restart a service, as needrestart 3.6 does.
const asNeedrestart = `
our %nrconf = (override_rc => {qr(^dbus) => 0});
my $fn = shift;
eval do { local(@ARGV, $/) = $fn; <>};
die "Error parsing $fn: $@" if($@);
foreach my $rc (@ARGV) {
	my $restart = 1;
	foreach my $re (keys %{$nrconf{override_rc}}) {
		next unless($rc =~ /$re/);
		$restart = $nrconf{override_rc}->{$re};
		last;
	}
	print "$rc $restart\n";
}
`

// needrestart restarts services that run with an old version of a library. It ignores policy-rc.d.
func TestPolicy_needrestart(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	p := policyIn(t, root, installs(programIn(root)))
	file := filepath.Join(root, "etc", "needrestart", "conf.d", "charm-ovn-central.conf")
	require.NoError(t, p.Forbid(t.Context()))
	args, want := []string{"-e", asNeedrestart, file}, ""
	for _, service := range ovndb.AllServices() {
		args, want = append(args, string(service)+".service"), want+string(service)+".service 0\n"
	}
	for _, other := range []string{"ovn-central-agent.service", "ovn-controller.service", "mysql.service"} {
		args, want = append(args, other), want+other+" 1\n"
	}
	out, err := run.Exec{}.Run(t.Context(), run.Command{Name: "perl", Args: args})
	require.NoError(t, err)
	assert.Equal(t, want, string(out))

	require.NoError(t, p.Allow())
	assert.NoFileExists(t, file)
}
