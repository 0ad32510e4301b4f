//go:build programs

package apt_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/apt"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/run"
	"github.com/ovn-central/ovn-central-operator/internal/run/runtest"
)

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
