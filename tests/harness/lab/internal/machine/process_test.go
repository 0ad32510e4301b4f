package machine

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/hooktool"
)

func newMachine(t *testing.T) *Machine {
	t.Helper()
	lab := t.TempDir()
	m := &Machine{Dir: filepath.Join(lab, "u-0"), Lab: lab, Address: "127.9.9.9"}
	program := filepath.Join(lab, "program")
	require.NoError(t, os.WriteFile(hooktool.Client(program), nil, 0o755))
	require.NoError(t, Create(m, program))
	return m
}
