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

// What happens around every change of packages.
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

func TestPayloadIsInstalledOnceAndTouchesNoService(t *testing.T) {
	a := newArchive(t)
	a.publish(t, "ovn-central", "23.03.1-1", "")
	p := a.packages()
	assert.Empty(t, versionOf(t, p))
	require.NoError(t, p.SetSources(t.Context(), a.source(t)))
	require.NoError(t, p.Install(t.Context()))
	assert.Equal(t, "23.03.1-1", versionOf(t, p))
	assert.Equal(t, []string{hold, "ovn-central configure 23.03.1-1", unhold}, a.happened(t))

	require.NoError(t, p.Install(t.Context()))
	assert.Empty(t, a.happened(t), "it is installed")
}

func TestUpgradeReplacesThePayloadUnderServicesThatRun(t *testing.T) {
	a := newArchive(t)
	a.publish(t, "ovn-central", "22.03.0-1", "")
	p := a.ready(t)
	require.NoError(t, p.Install(t.Context()))
	options := filepath.Join(a.dir, "root/etc/default/ovn-central")
	require.NoError(t, os.WriteFile(options, []byte("OVN_CTL_OPTS=ours\n"), 0o600))
	a.happened(t)

	a.publish(t, "ovn-central", "23.03.1-1", "")
	a.publish(t, "ovn-common", "23.03.1-1", "") // not installed: stays so
	require.NoError(t, p.Update(t.Context()))
	assert.Empty(t, a.happened(t))
	require.NoError(t, p.Upgrade(t.Context()))
	assert.Equal(t, "23.03.1-1", versionOf(t, p))
	assert.Equal(t, []string{hold, "ovn-central configure 23.03.1-1", unhold}, a.happened(t))
	text, err := os.ReadFile(options)
	require.NoError(t, err)
	assert.Equal(t, "OVN_CTL_OPTS=ours\n", string(text), "the charm's file stays")

	require.NoError(t, p.Upgrade(t.Context()))
	assert.Equal(t, []string{hold, unhold}, a.happened(t), "nothing is newer")
}

func TestPackageThatIsNotConfiguredIsNotInstalledAndIsMended(t *testing.T) {
	a := newArchive(t)
	a.publish(t, "ovn-central", "23.03.1-1", `test ! -e "$CALLS.fail"`)
	p := a.ready(t)
	fail := filepath.Join(a.played, "calls.fail")
	require.NoError(t, os.WriteFile(fail, nil, 0o600))
	err := p.Install(t.Context())
	require.ErrorContains(t, err, "cannot install ovn-central: dpkg: error processing package ovn-central (--configure)")
	version, ok, err := p.Installed(t.Context())
	require.NoError(t, err)
	assert.False(t, ok, "it is half-configured")
	assert.Equal(t, "23.03.1-1", version.OVN, "and there")
	assert.Equal(t, unhold, a.happened(t)[2], "the services are released after a failure too")

	require.NoError(t, os.Remove(fail))
	require.NoError(t, p.Install(t.Context()))
	assert.Equal(t, "23.03.1-1", versionOf(t, p))
}

func TestDpkgThatWasKilledIsFinished(t *testing.T) {
	a := newArchive(t)
	a.publish(t, "ovn-central", "22.03.0-1", "")
	p := a.ready(t)
	require.NoError(t, p.Install(t.Context()))
	a.publish(t, "ovn-central", "23.03.1-1", "")
	require.NoError(t, p.Update(t.Context()))
	// A change of a package's state that dpkg has noted and not yet merged.
	status, err := os.ReadFile(filepath.Join(a.dir, "dpkg/status"))
	require.NoError(t, err)
	a.write(t, "dpkg/updates/0000", strings.TrimSpace(string(status))+"\n")
	require.NoError(t, p.Upgrade(t.Context()))
	assert.Equal(t, "23.03.1-1", versionOf(t, p))
}

// A machine that loses its power while dpkg unpacks a package: dpkg can't configure
// that, nor what depends on it.
func TestPackageThatIsHalfUnpackedIsUnpackedAgain(t *testing.T) {
	for _, half := range []string{"ovn-common", "ovn-central"} {
		t.Run(half, func(t *testing.T) {
			a := newArchive(t)
			for _, version := range []string{"22.03.0-1", "23.03.1-1"} { // apt could have the older one again
				a.publish(t, "ovn-common", version, "")
				a.publish(t, "ovn-central", version, "", "Depends: ovn-common (= "+version+")")
			}
			p := a.ready(t)
			require.NoError(t, p.Install(t.Context()))

			// What dpkg leaves: the older version of the one, and the newer of the other.
			text, err := os.ReadFile(filepath.Join(a.dir, "dpkg/status"))
			require.NoError(t, err)
			paragraphs := strings.Split(strings.TrimSpace(string(text)), "\n\n")
			require.Len(t, paragraphs, 2)
			for i, paragraph := range paragraphs {
				if strings.HasPrefix(paragraph, "Package: "+half+"\n") {
					paragraph = strings.Replace(paragraph, "\nDepends: ovn-common (= 23.03.1-1)\n", "\nDepends: ovn-common (= 22.03.0-1)\n", 1)
					paragraph = strings.Replace(paragraph, "\nStatus: install ok installed\n", "\nStatus: install reinstreq half-installed\n", 1)
					paragraph = strings.Replace(paragraph, "\nVersion: 23.03.1-1\n", "\nVersion: 22.03.0-1\n", 1)
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

func TestPackageThatNoSourceHasIsNamed(t *testing.T) {
	a := newArchive(t)
	a.publish(t, "another", "1", "")
	err := a.ready(t).Install(t.Context())
	require.EqualError(t, err, "cannot install ovn-central: E: Unable to locate package ovn-central")
}

// take locks a file as apt and dpkg do, until the returned function is called.
func take(t *testing.T, path string) (release func()) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o640)
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.Close() }) // closed already by most
	require.NoError(t, syscall.FcntlFlock(f.Fd(), syscall.F_SETLK, &syscall.Flock_t{Type: syscall.F_WRLCK}))
	return func() { _ = f.Close() }
}

func TestLockOfAnotherProcessIsWaitedFor(t *testing.T) {
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

// An unattended upgrade restarts the services. One that is masked after its stop would stay down.
func TestPayloadThatAnotherProcessConfiguresIsLeftToIt(t *testing.T) {
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
	require.False(t, ok, "the premise: it is half-configured")
	go func() { installs <- p.Install(t.Context()) }()
	select {
	case err := <-installs:
		t.Fatalf("not waited for: %v", err)
	case <-time.After(300 * time.Millisecond):
	}
	assert.Equal(t, []string{"ovn-central configure 1"}, a.happened(t))
	require.NoError(t, os.WriteFile(filepath.Join(a.played, "calls.on"), nil, 0o600))
	require.NoError(t, other.Wait())
	require.NoError(t, <-installs)
	assert.Equal(t, "1", versionOf(t, p))
	assert.Equal(t, []string{hold, unhold}, a.happened(t), "and nothing is configured twice")
}

func TestLockThatIsNeverReleasedIsGivenUp(t *testing.T) {
	a := newArchive(t)
	a.publish(t, "ovn-central", "1", "")
	p := a.ready(t)
	p.Patience = 300 * time.Millisecond
	release := take(t, filepath.Join(a.dir, "dpkg/lock-frontend"))
	err := p.Install(t.Context())
	require.ErrorIs(t, err, apt.ErrLocked)
	require.ErrorContains(t, err, "cannot install ovn-central: packages are locked by another process: ")
	assert.Empty(t, a.happened(t), "no service is masked under what another process restarts")
	release()

	take(t, filepath.Join(a.dir, "state/lists/lock"))
	err = p.Update(t.Context())
	require.ErrorIs(t, err, apt.ErrLocked)
	require.ErrorContains(t, err, "state/lists/lock")
}

func TestServicesAreReleasedThoughTheTimeIsOver(t *testing.T) {
	a := newArchive(t)
	a.publish(t, "ovn-central", "1", "exec sleep 60")
	p := a.ready(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	begun := time.Now()
	require.ErrorIs(t, p.Install(ctx), context.DeadlineExceeded)
	assert.Less(t, time.Since(begun), 20*time.Second)
	happened := a.happened(t)
	assert.Equal(t, unhold, happened[len(happened)-1])
}

func TestServicesThatCannotBeHeldKeepPackagesAsTheyAre(t *testing.T) {
	a := newArchive(t)
	a.publish(t, "ovn-central", "1", "")
	p := a.ready(t)
	runtest.Install(t, map[string]string{"systemctl": `echo "Access denied" >&2; exit 1`})
	require.EqualError(t, p.Install(t.Context()), "cannot install ovn-central: cannot mask the services: systemctl: Access denied")
	assert.Empty(t, versionOf(t, p))
}

func TestPackageToolsThatAreMissingAreNamed(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	p := apt.Packages{Runner: run.Exec{}}
	_, _, err := p.Installed(t.Context())
	require.EqualError(t, err, "cannot tell whether ovn-central is installed: dpkg-query: program not found")
}

// ovsdb-server is openvswitch-common's: that it alone is newer is another version.
func TestNewerOpenvSwitchAloneIsAnotherVersion(t *testing.T) {
	a := newArchive(t)
	a.publish(t, "ovn-central", "23.03.1-1", "")
	a.publish(t, "openvswitch-common", "3.1.0-2", "")
	p := a.ready(t)
	require.NoError(t, p.Install(t.Context()))
	_, err := run.Exec{}.Run(t.Context(), run.Command{Name: "apt-get", Args: []string{"--yes", "install", "openvswitch-common"}})
	require.NoError(t, err)
	assert.Equal(t, "23.03.1-1 openvswitch 3.1.0-2", versionOf(t, p))
	a.publish(t, "openvswitch-common", "4.0.0-1", "")
	require.NoError(t, p.Update(t.Context()))
	require.NoError(t, p.Upgrade(t.Context()))
	assert.Equal(t, "23.03.1-1 openvswitch 4.0.0-1", versionOf(t, p))
}

func TestDpkgsFilesTellWhatDpkgQueryDoes(t *testing.T) {
	t.Parallel()
	asked, ok, err := apt.Packages{Runner: run.Exec{}}.Installed(t.Context())
	require.NoError(t, err)
	read, also, err := apt.Packages{Admin: apt.DpkgAdmin}.Installed(t.Context())
	require.NoError(t, err)
	assert.True(t, ok, "the premise: this machine has the package")
	assert.Equal(t, asked, read)
	assert.Equal(t, ok, also)
}

// asNeedrestart is how needrestart 3.6 reads a file of its conf.d, over a hash that its own
// needrestart.conf has begun, and how it judges whether it restarts a service.
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

// needrestart restarts what runs with the old version of a library, after any apt-get: it
// asks systemd itself, so that policy-rc.d doesn't hold it back.
func TestNeedrestartRestartsNoServiceOfThePackageWhileRestartsAreHeldBack(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	p := apt.Policy{
		Runner: alternatives{runtest.New(t, installs(filepath.Join(root, "charm", "ovn-central", "policy-rc.d"))), root}, App: "ovn-central",
		Paths: ovndb.Paths{Etc: filepath.Join(root, "etc", "ovn"), DB: filepath.Join(root, "ovn")},
	}
	file := filepath.Join(root, "etc", "needrestart", "conf.d", "charm-ovn-central.conf")
	for range 2 {
		require.NoError(t, p.Forbid(t.Context()))
	}
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
