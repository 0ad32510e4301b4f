// Package certificates maintains a unit's certificate. It requests one from the provider, compares the issued
// certificate with the present one, and installs it while the servers run.
package certificates

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/facts"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
	"github.com/ovn-central/ovn-central-operator/internal/tls"
	"github.com/ovn-central/ovn-central-operator/internal/unitname"
	"github.com/ovn-central/ovn-central-operator/internal/unitstate"
)

// Juju has the tools of Juju that the manager needs.
type Juju interface {
	RelationIDs(ctx context.Context, endpoint string) ([]string, error)
	RelationUnits(ctx context.Context, id string) ([]string, error)
	RelationGet(ctx context.Context, id, unit string) (map[string]string, error)
	RelationSet(ctx context.Context, id string, values map[string]string) error
}

// Manager maintains the certificate of a unit. A Manager is used for one hook.
type Manager struct {
	Juju   Juju
	Dialer Dialer
	Env    juju.Env
	Paths  ovndb.Paths
	Now    func() time.Time
	State  *unitstate.State
	Log    *slog.Logger

	// primary are the addresses that a certificate must have.
	primary []netip.Addr
	related bool
	// provider is the provider's unit that answered last, or one that goal-state lists.
	provider string
	// relations are the relations to the provider. published is this unit's data on each.
	relations []string
	published map[string]map[string]string
	request   relation.CertificateRequest
	// issued is the best answer. If it is nil, problem is the problem with the answers.
	issued  *relation.Issued
	problem finding.Reason
}

// kept is the stored state of the relation to the provider.
type kept struct {
	// Related reports whether the relation existed when Juju was last asked.
	Related bool `json:"related,omitempty"`
	// Unrelated reports whether the relation was broken and not added again.
	Unrelated bool `json:"unrelated,omitempty"`
}

var section = unitstate.NewSection[kept]("certificates")

// Observe reads the issued certificates. Its error comes from one of Juju's tools.
func (m *Manager) Observe(ctx context.Context, o facts.Facts) error {
	m.primary = o.Addresses.Primary
	last := section.Get(m.State)
	providers := slices.SortedFunc(maps.Keys(o.Application.Remote[relation.Certificates]), unitname.Compare)
	listed := len(providers) > 0
	// A certificate that is unusable may only be damaged on the disk, so read the provider's answer again.
	if o.Thorough || (listed || last.Related) && !m.usable() {
		if err := m.ask(ctx, o.Addresses); err != nil {
			return err
		}
	}
	if o.Thorough {
		last.Related = len(m.relations) > 0
		last.Unrelated = !last.Related && (last.Unrelated ||
			strings.HasPrefix(m.Env.BrokenRelation(), relation.Certificates+":"))
	}
	if listed && m.provider == "" { // the answers were not read
		m.provider = providers[len(providers)-1]
	}
	// goal-state lists the relation before this unit enters it, and for seconds after it has left it.
	m.related = len(m.relations) > 0 || last.Related || listed && !last.Unrelated
	return section.Set(m.State, last)
}

// ask reads the provider's answers to this unit's request. If the request covers the primary addresses, ask keeps it,
// whichever charm made it, since another request would cause a new certificate. The Python charm requested only the
// first addresses (get_certificate_sans of charm-helpers), and others may come and go, such as a virtual address.
// Names don't matter: Open vSwitch checks none (stream-ssl.c).
func (m *Manager) ask(ctx context.Context, a observe.Addresses) error {
	ids, err := m.Juju.RelationIDs(ctx, relation.Certificates)
	if err != nil {
		return err
	}
	m.relations = m.Env.Unbroken(ids)
	m.request = relation.CertificateRequest{
		Unit: m.Env.Unit, CommonName: strings.ReplaceAll(m.Env.Unit, "/", "-"), SANs: append(texts(a.All), a.Hosts...),
	}
	m.published = map[string]map[string]string{}
	for _, id := range m.relations {
		own, err := m.Juju.RelationGet(ctx, id, m.Env.Unit)
		if err != nil && !errors.Is(err, juju.ErrNotFound) {
			return err
		}
		m.published[id] = own
		if before, found := relation.ParseRequest(m.Env.Unit, own); found && covers(before.SANs, texts(m.primary)) {
			m.request = before
		}
		if err := m.readAnswers(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// readAnswers keeps the best answer of the provider's units on one relation: the newest usable one. A vault unit that
// is down or sealed leaves its old answer on the relation.
func (m *Manager) readAnswers(ctx context.Context, id string) error {
	units, err := m.Juju.RelationUnits(ctx, id)
	if err != nil && !errors.Is(err, juju.ErrNotFound) {
		return err
	}
	for _, unit := range units {
		databag, err := m.Juju.RelationGet(ctx, id, unit)
		if err != nil && !errors.Is(err, juju.ErrNotFound) {
			return err
		}
		m.provider = unit
		issued, found, err := relation.ParseIssued(databag, m.request)
		switch {
		case err != nil && m.issued == nil:
			m.problem = finding.Quote(unit)
			m.problem.Because = []finding.Reason{finding.Quote(err.Error())}
		case found && (m.issued == nil || m.preferred(issued, *m.issued)):
			m.issued, m.problem = &issued, finding.Reason{}
		}
	}
	return nil
}

func (m *Manager) preferred(issued, other relation.Issued) bool {
	info, problem := tls.Check(credentialsOf(issued), m.primary, m.Now())
	than, otherProblem := tls.Check(credentialsOf(other), m.primary, m.Now())
	if problem.IsZero() != otherProblem.IsZero() {
		return problem.IsZero()
	}
	return info.NotBefore.After(than.NotBefore)
}

// Compare returns the present certificate and the issued one.
func (m *Manager) Compare() plan.Certificates {
	c := plan.Certificates{Related: m.related, Provider: m.provider}
	if used, err := m.credentials().Read(); err == nil {
		c.Used = m.judge(used, m.primary)
	} else if !errors.Is(err, tls.ErrNone) {
		c.Used = &plan.Certificate{Problem: finding.Quote(err.Error())}
	}
	if m.issued != nil {
		c.Issued = m.judge(credentialsOf(*m.issued), m.primary)
	} else if !m.problem.IsZero() {
		c.Issued = &plan.Certificate{Problem: m.problem}
	}
	return c
}

func (m *Manager) usable() bool {
	used, err := m.credentials().Read()
	return err == nil && m.judge(used, nil).Problem.IsZero()
}

func (m *Manager) judge(c tls.Credentials, addresses []netip.Addr) *plan.Certificate {
	info, problem := tls.Check(c, addresses, m.Now())
	x := &plan.Certificate{
		Fingerprint: info.Fingerprint, Issuer: info.Issuer, Trusts: info.Authorities, NotAfter: info.NotAfter,
	}
	slices.Sort(x.Trusts)
	switch problem.Code {
	case finding.CertificateLacks, finding.CertificateNamesNone:
		x.Lacks = problem
	default:
		x.Problem = problem
	}
	return x
}

// Install writes the files for a step with the issued certificate, while the servers run. It returns when the servers
// of the databases in served answer at the address with the new files.
func (m *Manager) Install(ctx context.Context, kind plan.Kind, address netip.Addr, served []ovndb.Database) error {
	issued := credentialsOf(*m.issued)
	used, err := m.credentials().Read()
	if err != nil && !errors.Is(err, tls.ErrNone) {
		m.Log.WarnContext(ctx, "cannot read the certificate that is replaced", "error", err)
	}
	next := issued
	if kind != plan.DropCAs {
		if next.CA, err = tls.Bundle(m.Now(), issued.CA, used.CA); err != nil {
			if next.CA, err = tls.Bundle(m.Now(), issued.CA); err != nil {
				return err
			}
		}
	}
	if kind == plan.TrustCA {
		next.Key, next.Certificate = used.Key, used.Certificate
	}
	// With newer packages, systemd creates this directory.
	if err := os.MkdirAll(m.Paths.Etc, 0o755); err != nil {
		return err
	}
	if _, err := m.credentials().Write(next); err != nil {
		return err
	}
	m.Dialer.Forget()
	return m.awaitServed(ctx, address, served)
}

// Ensure requests a certificate from the provider, and repairs the modes of the files. It returns no findings; the
// decision does. Its error comes from one of Juju's tools.
func (m *Manager) Ensure(ctx context.Context, o facts.Facts) ([]finding.Finding, error) {
	if o.Preview {
		return nil, nil
	}
	for _, id := range m.relations {
		databag := m.request.Databag()
		if !o.Thorough || contains(m.published[id], databag) {
			continue
		}
		if err := m.Juju.RelationSet(ctx, id, databag); err != nil {
			return nil, err
		}
	}
	if err := m.credentials().SetModes(); err != nil { // Nagios' check reads the certificate
		m.Log.WarnContext(ctx, "cannot repair the unit's credentials; continuing", "error", err)
	}
	return nil, nil
}

func (m *Manager) credentials() tls.Files { return tls.Files(m.Paths.Credentials()) }

func credentialsOf(issued relation.Issued) tls.Credentials {
	return tls.Credentials{
		Key: []byte(issued.Key), Certificate: []byte(issued.Certificate),
		CA: []byte(joinPEM(issued.CA, issued.Chain)),
	}
}

// joinPEM joins PEM texts so that each begins on a new line.
func joinPEM(parts ...string) string {
	var all strings.Builder
	for _, p := range parts {
		if p = strings.TrimSpace(p); p != "" {
			all.WriteString(p + "\n")
		}
	}
	return all.String()
}

func texts(addresses []netip.Addr) (all []string) {
	for _, address := range addresses {
		all = append(all, address.String())
	}
	return all
}

func covers(have, want []string) bool {
	return !slices.ContainsFunc(want, func(w string) bool { return !slices.Contains(have, w) })
}

// contains reports whether the data on a relation are as wanted. A wanted empty value means that the key is missing.
func contains(have, want map[string]string) bool {
	for key, value := range want {
		if have[key] != value {
			return false
		}
	}
	return true
}

// Dialer connects to servers with the unit's certificate.
type Dialer interface {
	// Server queries the state of the server at the first endpoint that answers.
	Server(ctx context.Context, db ovndb.Database, endpoints ...string) (ovsdb.ServerState, error)
	// Forget makes the next connection read the certificate again.
	Forget()
}

const (
	// clientTimeout limits the check of one client port of this unit.
	clientTimeout = 2 * time.Second
	// reloadPatience is how long servers may take to load new certificates. They do so in the next iteration of their
	// main loop.
	reloadPatience = 5 * time.Second
	// pollInterval is the time between two checks.
	pollInterval = 25 * time.Millisecond
)

// Served returns nil if this unit's client ports answer over TLS. Without ports, it checks all client ports of the
// database.
func (m *Manager) Served(ctx context.Context, db ovndb.Database, address netip.Addr, ports ...uint16) error {
	if len(ports) == 0 {
		ports = ovndb.ClientPorts(db)
	}
	for _, port := range ports {
		if err := m.answers(ctx, db, "ssl:"+netip.AddrPortFrom(address, port).String()); err != nil {
			return err
		}
	}
	return nil
}

func (m *Manager) answers(ctx context.Context, db ovndb.Database, endpoint string) error {
	ctx, cancel := context.WithTimeout(ctx, clientTimeout)
	defer cancel()
	_, err := m.Dialer.Server(ctx, db, endpoint)
	return err
}

// Reload makes the server read its certificate again, and returns nil once the server answers. Until then, a server
// that was started while the files were being replaced has no certificate.
func (m *Manager) Reload(ctx context.Context, db ovndb.Database, address netip.Addr) error {
	if err := m.credentials().Touch(); err != nil {
		return err
	}
	m.Dialer.Forget()
	return m.await(ctx, clientTimeout, db, address)
}

func (m *Manager) await(ctx context.Context, patience time.Duration, db ovndb.Database, address netip.Addr) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return poll.Until(ctx, pollInterval, func() error { return m.Served(ctx, db, address) })
}

func (m *Manager) awaitServed(ctx context.Context, address netip.Addr, served []ovndb.Database) error {
	for _, db := range served {
		err := m.await(ctx, reloadPatience, db, address)
		if err != nil {
			err = m.Reload(ctx, db, address)
		}
		if err != nil {
			return fmt.Errorf("the servers do not answer with the new certificate: %w", err)
		}
	}
	return nil
}
