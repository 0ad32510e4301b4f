package certificates

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/facts"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
	"github.com/ovn-central/ovn-central-operator/internal/tls"
	"github.com/ovn-central/ovn-central-operator/internal/unitstate"
	"github.com/ovn-central/ovn-central-operator/tests/harness/vault"
)

// provider simulates the relation certificates:3 of ovn-central/0: the data that each unit has published, those of
// vault/0 first.
type provider struct {
	asked   bool
	data    map[string]map[string]string
	answers []map[string]string
}

func (p *provider) RelationIDs(context.Context, string) ([]string, error) {
	p.asked = true
	return []string{"certificates:3"}, nil
}

func (p *provider) RelationUnits(context.Context, string) (units []string, err error) {
	for i := range p.answers {
		units = append(units, fmt.Sprintf("vault/%d", i))
	}
	return units, nil
}

func (p *provider) RelationGet(_ context.Context, _, unit string) (map[string]string, error) {
	for i, answer := range p.answers {
		if unit == fmt.Sprintf("vault/%d", i) {
			return answer, nil
		}
	}
	return p.data[unit], nil
}

func (p *provider) RelationSet(_ context.Context, _ string, values map[string]string) error {
	p.data["ovn-central/0"] = values
	return nil
}

// dialer counts the calls of Forget. Its servers answer if answers is set.
type dialer struct {
	forgot  int
	answers bool
}

func (d *dialer) Server(context.Context, ovndb.Database, ...string) (ovsdb.ServerState, error) {
	if !d.answers {
		return ovsdb.ServerState{}, errors.New("connection refused")
	}
	return ovsdb.ServerState{}, nil
}

func (d *dialer) Forget() { d.forgot++ }

// manager returns the manager of ovn-central/0.
func manager(t *testing.T, p *provider) *Manager {
	t.Helper()
	log, dir := slog.New(slog.DiscardHandler), t.TempDir()
	state, err := unitstate.Open(filepath.Join(dir, "state.json"), log)
	require.NoError(t, err)
	if p.data == nil {
		p.data = map[string]map[string]string{}
	}
	return &Manager{
		Juju: p, Dialer: new(dialer), Env: juju.Env{Unit: "ovn-central/0", App: "ovn-central"},
		Paths: ovndb.Paths{Etc: filepath.Join(dir, "ovn")},
		Now:   time.Now, State: state, Log: log,
	}
}

func addresses(texts ...string) (all []netip.Addr) {
	for _, text := range texts {
		all = append(all, netip.MustParseAddr(text))
	}
	return all
}

// at returns the facts of a thorough hook of a unit with these addresses.
func at(primary, all []string) facts.Facts {
	a := observe.Addresses{Primary: addresses(primary...), All: addresses(all...)}
	return facts.Facts{Thorough: true, Addresses: a}
}

// by returns an application in whose goal-state the provider has these entries.
func by(entries ...string) observe.Application {
	units := map[string]juju.UnitGoal{}
	for _, name := range entries {
		units[name] = juju.UnitGoal{}
	}
	return observe.Application{Remote: map[string]map[string]juju.UnitGoal{relation.Certificates: units}}
}

// issue returns an answer of the CA for ovn-central/0, valid in the hour around now.
func issue(ca *vault.CA, from, to time.Duration, names ...string) map[string]string {
	certificate, key := ca.Issue("ovn-central-0", names, time.Now().Add(from), time.Now().Add(to))
	return map[string]string{
		"ovn-central_0.server.cert": certificate, "ovn-central_0.server.key": key, "ca": ca.PEM(), "chain": ca.ChainPEM(),
	}
}

// The Python charm requests one address of each binding. Neither the upgrade from that charm nor a virtual address
// that comes and goes causes a new certificate.
func TestObserve_request_with_the_primary_addresses_is_kept(t *testing.T) {
	t.Parallel()
	ca := vault.New("vault")
	for name, tt := range map[string]struct {
		asked, all, primary []string
		kept                bool
	}{
		"one_address":  {[]string{"10.0.0.1"}, []string{"10.0.0.1"}, []string{"10.0.0.1"}, true},
		"two_families": {[]string{"10.0.0.1"}, []string{"10.0.0.1", "fd42::1"}, []string{"10.0.0.1"}, true},
		"two_spaces": {
			[]string{"10.0.0.1", "10.9.0.1"},
			[]string{"10.0.0.1", "10.0.0.9", "10.9.0.1"},
			[]string{"10.0.0.1", "10.9.0.1"},
			true,
		},
		"another_space": {
			[]string{"10.0.0.1"}, []string{"10.0.0.1", "10.9.0.1"}, []string{"10.0.0.1", "10.9.0.1"}, false,
		},
		"the_address_changed": {[]string{"10.0.0.8"}, []string{"10.0.0.1"}, []string{"10.0.0.1"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sans, err := json.Marshal(tt.asked)
			require.NoError(t, err)
			answer := issue(ca, -time.Hour, time.Hour, tt.asked...)
			p := &provider{answers: []map[string]string{answer}, data: map[string]map[string]string{
				"ovn-central/0": {"unit_name": "ovn-central_0", "common_name": "machine-0", "sans": string(sans)},
			}}
			m := manager(t, p)
			issued := relation.Issued{
				Key: answer["ovn-central_0.server.key"], Certificate: answer["ovn-central_0.server.cert"], CA: answer["ca"],
			}
			m.Paths.Etc = t.TempDir()
			_, err = m.credentials().Write(credentialsOf(issued))
			require.NoError(t, err)
			s := at(tt.primary, tt.all)
			require.NoError(t, m.Observe(t.Context(), s))
			c := m.Compare()
			assert.True(t, c.Related)
			assert.Equal(t, "vault/0", c.Provider)
			assert.Empty(t, c.Used.Problem)
			assert.Equal(t, tt.kept, c.Used.Lacks.IsZero(), c.Used.Lacks)
			assert.Equal(t, c.Used.Lacks, c.Issued.Lacks)

			preview := s
			preview.Preview = true
			before := p.data["ovn-central/0"]
			_, err = m.Ensure(t.Context(), preview)
			require.NoError(t, err)
			assert.Equal(t, before, p.data["ovn-central/0"])
			_, err = m.Ensure(t.Context(), s)
			require.NoError(t, err)
			assert.Equal(t, tt.kept, p.data["ovn-central/0"]["common_name"] == "machine-0")
			if !tt.kept {
				var asked []string
				require.NoError(t, json.Unmarshal([]byte(p.data["ovn-central/0"]["sans"]), &asked))
				assert.Equal(t, tt.all, asked)
			}
		})
	}
}

// Unless the snapshot is thorough, the provider is asked only if the certificate can't be used.
func TestObserve_asks_only_if_needed(t *testing.T) {
	t.Parallel()
	answer := issue(vault.New("vault"), -time.Hour, time.Hour, "10.0.0.1")
	p := &provider{answers: []map[string]string{answer}}
	m := manager(t, p)
	s := at([]string{"10.0.0.1"}, []string{"10.0.0.1"})
	s.Thorough = false
	require.NoError(t, m.Observe(t.Context(), s))
	assert.False(t, p.asked, "no provider is known")
	assert.False(t, m.Compare().Related)

	s.Application = by("vault", "vault/0")
	require.NoError(t, m.Observe(t.Context(), s))
	assert.True(t, p.asked, "there is no certificate yet")
	require.NoError(t, m.Install(t.Context(), plan.InstallCertificate, netip.Addr{}, nil))
	assert.Equal(t, 1, m.Dialer.(*dialer).forgot)

	p.asked = false
	next := manager(t, p)
	next.Paths = m.Paths
	require.NoError(t, next.Observe(t.Context(), s))
	assert.False(t, p.asked)
	c := next.Compare()
	assert.True(t, c.Related)
	assert.Equal(t, "vault/0", c.Provider)
	assert.Nil(t, c.Issued)
	assert.Empty(t, c.Used.Problem)
}

// goal-state still lists a provider whose relation is broken.
func TestObserve_relation_is_broken(t *testing.T) {
	t.Parallel()
	p := new(provider)
	m := manager(t, p)
	m.Env.HookName, m.Env.RelationID = "certificates-relation-broken", "certificates:3"
	s := facts.Facts{Thorough: true}
	s.Application = by("vault/0")
	require.NoError(t, m.Observe(t.Context(), s))
	assert.False(t, m.Compare().Related)
	assert.Equal(t, kept{Unrelated: true}, section.Get(m.State))
	m.Env.HookName = "certificates-relation-joined"
	require.NoError(t, m.Observe(t.Context(), s))
	assert.True(t, m.Compare().Related)
	assert.Equal(t, kept{Related: true}, section.Get(m.State))
}

// Units trust a new CA in addition to the old one until each unit trusts both.
func TestInstall_steps(t *testing.T) {
	t.Parallel()
	old, ca := vault.New("old"), vault.New("new")
	m := manager(t, &provider{answers: []map[string]string{issue(old, -time.Hour, time.Hour, "10.0.0.1")}})
	s := at([]string{"10.0.0.1"}, []string{"10.0.0.1"})
	require.NoError(t, m.Observe(t.Context(), s))
	require.NoError(t, m.Install(t.Context(), plan.InstallCertificate, netip.Addr{}, nil))
	before := m.Compare().Used
	next := manager(t, &provider{answers: []map[string]string{issue(ca, -time.Minute, time.Hour, "10.0.0.1")}})
	next.Paths, next.Dialer = m.Paths, &dialer{answers: true}
	require.NoError(t, next.Observe(t.Context(), s))
	used := func(kind plan.Kind) *plan.Certificate {
		require.NoError(t, next.Install(t.Context(), kind, addresses("10.0.0.1")[0], ovndb.Databases()))
		return next.Compare().Used
	}
	x := used(plan.TrustCA)
	assert.Equal(t, before.Fingerprint, x.Fingerprint)
	assert.Len(t, x.Trusts, 2)
	x = used(plan.InstallCertificate)
	assert.NotEqual(t, before.Fingerprint, x.Fingerprint)
	assert.Len(t, x.Trusts, 2)
	assert.Len(t, used(plan.DropCAs).Trusts, 1)
	assert.FileExists(t, tls.Files(m.Paths.Credentials()).Key)
}

// A vault unit that is down or sealed leaves its earlier answer on the relation.
func TestObserve_newest_usable_answer_counts(t *testing.T) {
	t.Parallel()
	ca, other := vault.NewWith("vault", vault.Options{Chain: true}), vault.New("other")
	from := func(from, to time.Duration, address string) map[string]string { return issue(ca, from, to, address) }
	without := func(answer map[string]string, key string) map[string]string {
		delete(answer, key)
		return answer
	}
	const mine = "10.0.0.1"
	expired, old := from(-2*time.Hour, -time.Hour, mine), from(-2*time.Hour, time.Hour, mine)
	young, elsewhere := from(-time.Hour, time.Hour, mine), from(-time.Minute, time.Hour, "10.0.0.9")
	chainless := without(from(-time.Minute, time.Hour, mine), "chain")
	keyless := without(from(-time.Minute, time.Hour, mine), "ovn-central_0.server.key")
	alien := from(-time.Minute, time.Hour, mine)
	alien["ca"] = other.PEM()
	for name, tt := range map[string]struct {
		answers []map[string]string
		want    int
	}{
		"one":                        {[]map[string]string{young}, 0},
		"expired before":             {[]map[string]string{expired, young}, 1},
		"expired behind":             {[]map[string]string{young, expired}, 0},
		"without the chain":          {[]map[string]string{chainless, young}, 1},
		"of another CA":              {[]map[string]string{alien, young}, 1},
		"for another address":        {[]map[string]string{elsewhere, old}, 1},
		"without its key":            {[]map[string]string{keyless, young}, 1},
		"without its key behind":     {[]map[string]string{young, keyless}, 0},
		"nothing yet":                {[]map[string]string{{}, young}, 1},
		"the newest is first":        {[]map[string]string{young, old}, 0},
		"the newest is behind":       {[]map[string]string{old, young, expired}, 1},
		"two that are the same":      {[]map[string]string{young, young}, 0},
		"none can be used":           {[]map[string]string{expired, elsewhere}, 1},
		"none, the newest is first":  {[]map[string]string{elsewhere, expired}, 0},
		"one of all can't be parsed": {[]map[string]string{keyless, expired}, 1},
	} {
		m := manager(t, &provider{answers: tt.answers})
		require.NoError(t, m.Observe(t.Context(), at([]string{mine}, nil)))
		require.NotNil(t, m.issued, name)
		assert.Equal(t, tt.answers[tt.want]["ovn-central_0.server.cert"], m.issued.Certificate, name)
		assert.Empty(t, m.problem, name)
	}
	m := manager(t, &provider{answers: []map[string]string{{}, keyless}})
	require.NoError(t, m.Observe(t.Context(), at([]string{mine}, nil)))
	assert.Nil(t, m.issued)
	assert.Equal(t, "vault/1", m.Compare().Issued.Problem.Value)
}
