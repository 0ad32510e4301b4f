package labtest

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// original is what copies of a deployment are made of.
type original struct {
	mu    sync.Mutex // held while it is deployed
	lab   *lab.Snapshot
	model Model
}

// deployment makes a lab with n units.
type deployment func(t *testing.T, n int, o lab.Options) *Model

// originals are those of this process, by how they were deployed.
var originals = struct {
	mu  sync.Mutex
	all map[string]*original
}{all: map[string]*original{}}

func originalOf(key string) *original {
	originals.mu.Lock()
	defer originals.mu.Unlock()
	if originals.all[key] == nil {
		originals.all[key] = &original{}
	}
	return originals.all[key]
}

// copied is what deploy makes with n units, or a copy of what it has made for another test. An application whose
// elections take long is deployed: a copy begins with one.
func copied(t *testing.T, how string, n int, o lab.Options, deploy deployment) *Model {
	t.Helper()
	o.JujuVersion = cmp.Or(o.JujuVersion, os.Getenv("LAB_JUJU"), lab.Juju3)
	o.ElectionTimer = cmp.Or(o.ElectionTimer, time.Second)
	if n == 0 || o.ElectionTimer > time.Second {
		return deploy(t, n, o)
	}
	ways, named := cmp.Or(o.Ways, &lab.Ways{}), o
	named.Ways = nil
	first := originalOf(fmt.Sprint(how, n, named, *ways))
	first.mu.Lock()
	if first.lab != nil {
		first.mu.Unlock()
		return first.open(t)
	}
	defer first.mu.Unlock()
	m := deploy(t, n, o)
	dir, err := os.MkdirTemp(filepath.Dir(program), "lab-") //nolint:usetesting // it outlives the test
	require.NoError(t, err)
	first.lab, err = m.Snapshot(t.Context(), dir)
	require.NoError(t, err)
	first.model = Model{Certificates: m.Certificates, Chassis: m.Chassis, CMS: m.CMS}
	return m
}

// Settled is what [Fresh] makes, or a copy of it: for tests that are not about how units become active. The hooks of
// the others have run in the test itself.
func Settled(t *testing.T, n int, o lab.Options) (*Model, []*lab.Unit) {
	t.Helper()
	m := copied(t, "fresh", n, o, func(t *testing.T, n int, o lab.Options) *Model {
		t.Helper()
		m, _ := Fresh(t, n, o)
		return m
	})
	m.VaultAnswers()
	return m, m.Deployed
}

// open makes a copy for a test.
func (d *original) open(t *testing.T) *Model {
	t.Helper()
	l, err := d.lab.Open(t.Context(), t.Output())
	require.NoError(t, err)
	t.Cleanup(func() { l.CloseOrKeep(t) })
	m := d.model
	m.Lab, m.T, m.Deployed = l, t, l.Units()
	return &m
}
