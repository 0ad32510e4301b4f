package machine

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/lab/internal/hookclient"
)

func TestMostCalledStandInsArePlayedInCWhereThatProgramIsThere(t *testing.T) {
	t.Parallel()
	for _, there := range []bool{false, true} {
		lab := t.TempDir()
		program := filepath.Join(lab, "program")
		if there {
			require.NoError(t, os.WriteFile(hookclient.InC(program), nil, 0o755))
		}
		m := &Machine{Dir: filepath.Join(lab, "u-0"), Lab: lab}
		require.NoError(t, Create(m, program))
		for name := range standIns {
			want := program
			if there && slices.Contains(inLab, name) {
				want = hookclient.InC(program)
			}
			target, err := os.Readlink(filepath.Join(m.BinDir(), name))
			require.NoError(t, err)
			assert.Equal(t, want, target, name)
		}
	}
}

// The program in C would take another for a hook tool.
func TestProgramInCKnowsTheStandInsThatItIsCalledBy(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("../../hooktool/hooktool.c")
	require.NoError(t, err)
	names := regexp.MustCompile(`stand_ins\[\] = \{(.*), NULL\}`).FindSubmatch(source)
	require.NotNil(t, names)
	assert.Equal(t, `"`+strings.Join(inLab, `", "`)+`"`, string(names[1]))
}
