package machines

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestControlGroupsAreFoundOnBothKindsOfHosts(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		mountinfo string
		want      []string
	}{
		"version 2 only": {
			mountinfo: "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n",
			want:      []string{"/sys/fs/cgroup"},
		},
		"both versions": {
			mountinfo: `31 24 0:27 / /sys/fs/cgroup rw shared:9 - tmpfs tmpfs rw,mode=755
32 31 0:28 / /sys/fs/cgroup/cpu rw shared:10 - cgroup cgroup rw,cpu
33 31 0:29 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd
34 31 0:30 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
`,
			want: []string{"/sys/fs/cgroup/systemd", "/sys/fs/cgroup/unified"},
		},
		"none": {mountinfo: "25 30 0:23 / /proc rw - proc proc rw\n\nnonsense\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, test.want, cgroupMounts(test.mountinfo))
		})
	}
}

func TestErrorsShowTheEndOfWhatACommandSaid(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "one\ntwo", tail("one\ntwo", 10))
	assert.Equal(t, "three", tail("one\ntwo\nthree", 8))
	assert.Equal(t, "ree", tail("one two three", 3))

	_, err := run(t.Context(), "sh", "-c", "echo reason >&2; exit 3")
	var failed *ExecError
	if assert.ErrorAs(t, err, &failed) {
		assert.Equal(t, 3, failed.ExitCode)
		assert.Contains(t, err.Error(), "reason")
	}
}

func TestMachinesHaveAddressesByTheirNumber(t *testing.T) {
	t.Parallel()
	m := newMachine(&Fleet{runDir: "/nowhere"}, 7)
	assert.Equal(t, "m7", m.Name())
	assert.Equal(t, "10.99.0.7", m.Address().String())
	assert.Equal(t, "fd99::7", m.Address6().String())
	assert.Equal(t, "10.99.0.7/24", cidr(network4, 7))

	m = newMachine(&Fleet{hub: hub{only6: true}}, 7)
	assert.Equal(t, "fd99::7", m.Address().String())
}
