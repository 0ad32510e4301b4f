package lab_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/cluster"
	"github.com/ovn-central/ovn-central-operator/tests/lab"
)

func TestLifeOfAnApplication(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "life-") //nolint:usetesting // a socket's path must be short
	require.NoError(t, err)
	app, end, err := lab.Start(t.Context(), dir, filepath.Join("..", ".."), lab.Options{Log: t.Output()})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, errors.Join(end(), os.RemoveAll(dir))) })
	s := &cluster.Story{
		App: app, Runner: cluster.Lab, CA: "vault", Options: map[string]string{"source": "distro", "ovsdb-server-election-timer": "1"},
		Limit: 8 * time.Minute, Every: 100 * time.Millisecond, Out: t.Output(),
	}
	wrong, err := s.Tell(t.Context(), cluster.Life)
	require.NoError(t, err)
	assert.Empty(t, wrong)
}
