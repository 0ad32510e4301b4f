package machine

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var ufwCommands = []string{
	"status numbered", "allow 22/tcp", "allow 22/tcp", "delete reject 99/tcp", "--force enable", "status numbered",
	"default allow incoming", "default allow outgoing", "default allow routed",
	"reject 6641/tcp comment charm-ovn-central", "allow 6641/tcp comment charm-ovn-central", "reject 6641/tcp comment charm-ovn-central",
	"reject to any port 6643 proto tcp comment charm-ovn-central",
	"prepend allow from 10.0.0.1 to any port 6641 proto tcp comment charm-ovn-central",
	"prepend allow from 10.0.0.1 to any port 6641 proto tcp comment charm-ovn-central",
	"prepend allow from fd00::1 to any port 6643 proto tcp comment charm-ovn-central",
	"allow from fd00::2 to any port 6643 proto tcp comment charm-ovn-central",
	"prepend allow from 10.0.0.2 to any port 6641,6643 proto tcp comment charm-ovn-central", "status numbered",
	"prepend reject from 10.0.0.2 to any port 6641,6643 proto tcp", "delete reject 6641/tcp", "delete reject 6641/tcp",
	"delete allow from fd00::1 to any port 6643 proto tcp", "status numbered",
	"allow from nonsense", "disable", "status numbered", "allow 80/tcp", "delete allow 80/tcp", "--force enable", "status numbered",
}

// realUfw runs the real program on copies of its files, in mount and network namespaces.
const realUfw = `set -eu
cp -a /etc/ufw ufw; cp -a /etc/default/ufw default
mount --bind ufw /etc/ufw; mount --bind default /etc/default/ufw; mount -t tmpfs none /run
while read -r line; do
	code=0
	out=$(ufw $line 2>&1) || code=$?
	printf '%s\n= %s\n%s\n\f' "$line" "$code" "$out"
done
`

func TestUfw_has_the_rules_of_the_real_one(t *testing.T) {
	if _, err := exec.LookPath("ufw"); err != nil {
		t.Fatal("ufw is not installed, and there is nothing to compare with: run tests/install-deps")
	}
	cmd := exec.CommandContext(t.Context(), "unshare", "--mount", "--net", "sh", "-c", realUfw)
	cmd.Dir, cmd.Stdin = t.TempDir(), strings.NewReader(strings.Join(ufwCommands, "\n")+"\n")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	var want, got []string
	for _, part := range strings.Split(strings.TrimSuffix(string(out), "\f"), "\f") {
		want = append(want, judged(part))
	}

	m := newMachine(t)
	for _, line := range ufwCommands {
		var said strings.Builder
		code := (&tool{m, "ufw", &said, &said}).ufw(strings.Fields(line))
		got = append(got, judged(line+"\n= "+string(rune('0'+code))+"\n"+said.String()))
	}
	require.Len(t, want, len(got))
	for i := range want {
		assert.Equal(t, want[i], got[i], "command %d", i)
	}
}

// judged returns the part of a record that the charm depends on: the exit code, and the output of `status`.
func judged(record string) string {
	if !strings.HasPrefix(record, "status") {
		record = strings.Join(strings.SplitN(record, "\n", 3)[:2], "\n")
	}
	return strings.TrimRight(record, "\n")
}
