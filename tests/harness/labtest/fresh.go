// Package labtest has what tests on the lab share: labs whose steps fail the test, and what is
// required of their units. A step that any runner can take is in tests/harness/cluster.
package labtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/vault"
)

// Empty starts a lab without units and relations. Its charm is the real one.
func Empty(t *testing.T, o lab.Options) *Model {
	t.Helper()
	o.Charm = cmp.Or(o.Charm, charmDir)
	m := start(t, o)
	require.NoError(t, m.Configure(t.Context(), map[string]string{"source": "distro"}))
	return m
}

// Fresh starts a lab with a CA, clients, and n units that were empty machines and are active.
func Fresh(t *testing.T, n int, o lab.Options) (*Model, []*lab.Unit) {
	t.Helper()
	m := Empty(t, o)
	m.RelateVault()
	m.RelateClients()
	units := m.AddFresh(n)
	m.RequireActive(units...)
	return m, units
}

// start starts a lab for the test, whose program plays the tools.
func start(t *testing.T, o lab.Options) *Model {
	t.Helper()
	o.Program, o.Log = program, t.Output()
	l, err := lab.New(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { l.CloseOrKeep(t) })
	return &Model{Lab: l, T: t}
}

// Run runs a subtest on the same units, which may add and remove some. It may not be parallel.
func (m *Model) Run(name string, test func(*Model)) {
	m.T.Helper()
	m.T.Run(name, func(t *testing.T) {
		t.Helper()
		sub := *m
		sub.T = t
		defer func() { m.Deployed = sub.Deployed }()
		test(&sub)
	})
}

// RefreshCharm refreshes the application to the charm that is tested.
func (m *Model) RefreshCharm() {
	m.T.Helper()
	require.NoError(m.T, m.Refresh(m.T.Context(), charmDir))
}

// RelateVault relates a CA that issues every requested certificate.
func (m *Model) RelateVault() {
	m.T.Helper()
	m.VaultAnswers()
	m.RelateSealedVault()
}

// RelateSealedVault relates a CA that issues nothing before [Model.VaultAnswers].
func (m *Model) RelateSealedVault() {
	m.T.Helper()
	var err error
	m.Certificates, err = m.Relate(m.T.Context(), "certificates", "vault", 1)
	require.NoError(m.T, err)
}

// VaultAnswers makes the CA issue requested certificates from now on.
func (m *Model) VaultAnswers() { m.answerFrom(m.CA(), nil) }

// Issue makes the provider answer again, from another CA or with an answer that alter (unit's name, answer) changes.
func (m *Model) Issue(from *vault.CA, alter func(unit string, answer map[string]string)) {
	m.T.Helper()
	m.answerFrom(from, alter)
	require.NoError(m.T, m.Settle(m.T.Context()))
}

func (m *Model) answerFrom(ca *vault.CA, alter func(unit string, answer map[string]string)) {
	m.OnRemote("certificates", func(unit string, bag map[string]string) map[string]string {
		answer, err := ca.Answer(unit, bag)
		if err != nil {
			m.T.Errorf("vault: %v", err)
			return nil
		}
		if alter != nil {
			alter(strings.ReplaceAll(unit, "/", "_"), answer)
		}
		return answer
	})
}

// RelateClients relates a chassis and a CMS.
func (m *Model) RelateClients() {
	m.T.Helper()
	var err error
	m.Chassis, err = m.Relate(m.T.Context(), "ovsdb", "ovn-chassis", 1)
	require.NoError(m.T, err)
	m.CMS, err = m.Relate(m.T.Context(), "ovsdb-cms", "neutron-api-plugin-ovn", 1)
	require.NoError(m.T, err)
}

// AddFresh adds n units on empty machines, and runs their hooks.
func (m *Model) AddFresh(n int) (units []*lab.Unit) {
	m.T.Helper()
	for range n {
		units = append(units, m.AddEmpty())
	}
	require.NoError(m.T, m.Settle(m.T.Context()))
	return units
}

// AddEmpty adds a unit on an empty machine, none of whose hooks has run.
func (m *Model) AddEmpty() *lab.Unit {
	m.T.Helper()
	u, err := m.AddUnitWith(m.T.Context(), lab.AddOptions{Fresh: true, NoHooks: true})
	require.NoError(m.T, err)
	m.Deployed = append(m.Deployed, u)
	return u
}

// charmDir is the charm as Juju unpacks it. The hooks of idleCharm do nothing: units that it set up, and that then get
// the real charm, need a third of the hooks of new ones. program plays the lab's tools.
var charmDir, idleCharm, program string

// Main is the TestMain of a package whose tests make labs.
func Main(m interface{ Run() int }) { lab.Main(m, layOut) }

func layOut(ctx context.Context, dir, root string) error {
	charmDir, idleCharm, program = filepath.Join(dir, "charm"), filepath.Join(dir, "idle"), filepath.Join(dir, "ovn-lab")
	if err := errors.Join(os.Mkdir(charmDir, 0o755), os.Mkdir(idleCharm, 0o755)); err != nil {
		return err
	}
	if err := errors.Join(lab.LayOut(ctx, charmDir, root, ""), lab.BuildTools(ctx, root, program)); err != nil {
		return err
	}
	for _, name := range []string{"metadata.yaml", "config.yaml"} {
		if err := os.Link(filepath.Join(charmDir, name), filepath.Join(idleCharm, name)); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(idleCharm, "dispatch"), []byte("#!/bin/sh\n"), 0o755) //nolint:gosec // Juju runs it
}

// original is a deployment from which copies are made.
type original struct {
	mu    sync.Mutex // held while it is deployed
	lab   *lab.Snapshot
	model Model
}

type deployment func(t *testing.T, n int, o lab.Options) *Model

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

// copied deploys n units, or copies another test's deployment. It deploys an application with long elections, since a
// copy begins with an election.
func copied(t *testing.T, how string, n int, o lab.Options, deploy deployment) *Model {
	t.Helper()
	o.JujuVersion = cmp.Or(o.JujuVersion, os.Getenv("LAB_JUJU"), lab.Juju3)
	o.ElectionTimer = cmp.Or(o.ElectionTimer, time.Second)
	if n == 0 || o.ElectionTimer > time.Second {
		return deploy(t, n, o)
	}
	quirks, named := cmp.Or(o.Quirks, &lab.Quirks{}), o
	named.Quirks = nil
	first := originalOf(fmt.Sprint(how, n, named, *quirks))
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

// Settled returns a copy of the lab that [Fresh] makes, for tests that are not about how units become active.
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

func (d *original) open(t *testing.T) *Model {
	t.Helper()
	l, err := d.lab.Open(t.Context(), t.Output())
	require.NoError(t, err)
	t.Cleanup(func() { l.CloseOrKeep(t) })
	m := d.model
	m.Lab, m.T, m.Deployed = l, t, l.Units()
	return &m
}
