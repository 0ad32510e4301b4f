package firewall

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/unitstate"
)

// Manager keeps a unit's firewall as the application needs it. A Manager is used for one hook.
type Manager struct {
	Firewall Firewall
	State    *unitstate.State
	Log      *slog.Logger
	// ensured reports whether Ensure was called in this hook.
	ensured bool
	// drifted is the result of Firewall.Drifted in this hook; nil before the call.
	drifted *bool
}

// Snapshot has the addresses from which the rules are made.
type Snapshot struct {
	// Thorough reports whether Clients were read from Juju. If not, the clients in the last rules are used.
	Thorough bool
	// Own is the unit's address. Peers are the addresses of the other units, and of all members of both clusters: a peer
	// that has departed may connect until it is gone from both clusters.
	Own            netip.Addr
	Peers, Clients []netip.Addr
}

type kept struct {
	// Rules are the rules that were set last, in the form of Rules.format.
	Rules string `json:"rules,omitempty"`
	// Clients are the clients in these rules; nil if unknown.
	Clients []netip.Addr `json:"clients"`
	// Failure is why the last attempt to set rules failed; it is a text for people.
	Failure string `json:"failure,omitempty"`
}

var section = unitstate.NewSection[kept]("firewall")

// Due reports whether to call Ensure: the wanted rules differ from the last ones or from the machine's, or ufw is
// off. It asks the machine once. After a failure it reports false until ufw is on, unless the snapshot is thorough.
func (m *Manager) Due(ctx context.Context, s Snapshot) bool {
	last := section.Get(m.State)
	if m.ensured || !s.Thorough && last.Clients == nil {
		return false
	}
	want, failed := s.rules(last), !s.Thorough && last.Failure != ""
	if !failed && last.Rules != want.format() {
		return true
	}
	if m.drifted == nil {
		drifted, err := m.Firewall.Drifted(ctx, want)
		switch {
		case failed:
			drifted = err == nil
		case err != nil && !errors.Is(err, ErrAbsent):
			drifted = true // Ensure reports the error
		}
		if drifted && !failed {
			m.Log.WarnContext(ctx, "the firewall's rules are not those that this unit has set")
		}
		m.drifted = &drifted
	}
	return *m.drifted
}

// Ensure sets the firewall's rules. A failure, as in a container without the kernel modules, is returned as a
// finding: the unit's ports are open. It returns an error only if the context has ended or the state can't be stored.
func (m *Manager) Ensure(ctx context.Context, s Snapshot) ([]finding.Finding, error) {
	m.ensured = true
	last := section.Get(m.State)
	want := s.rules(last)
	err := m.Firewall.Ensure(ctx, want)
	last.Clients, last.Failure = append([]netip.Addr{}, want.Clients...), ""
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, ErrAbsent):
		last.Rules, last.Failure = want.format(), finding.Reason{Code: finding.FirewallAbsent}.String()
	case err != nil:
		last.Failure, _, _ = strings.Cut(err.Error(), "\n")
	default:
		last.Rules = want.format()
	}
	if last.Failure != "" {
		m.Log.WarnContext(ctx, "cannot configure the firewall", "error", err)
	}
	err = section.Set(m.State, last)
	return m.Findings(), err
}

// Remove removes the rules. It ignores a failure of ufw, as in a container without the kernel modules. It returns an
// error only if the context has ended.
func (m *Manager) Remove(ctx context.Context) error {
	err := m.Firewall.Remove(ctx)
	switch {
	case err == nil, errors.Is(err, ErrAbsent), errors.Is(err, ErrInactive):
	case ctx.Err() != nil:
		return err
	default:
		m.Log.WarnContext(ctx, "cannot remove the firewall's rules; continuing", "error", err)
	}
	return nil
}

// Findings returns the failure of the last attempt.
func (m *Manager) Findings() []finding.Finding {
	failure := section.Get(m.State).Failure
	if failure == "" {
		return nil
	}
	return []finding.Finding{finding.New(finding.FirewallFailed, finding.Subject{}, finding.Quote(failure).Args())}
}

func (s Snapshot) rules(last kept) (all Rules) {
	clients := s.Clients
	if !s.Thorough {
		clients = last.Clients
	}
	hosts := func(addresses []netip.Addr) []netip.Addr {
		some := slices.DeleteFunc(slices.Clone(addresses), func(a netip.Addr) bool { return !a.IsValid() || a == s.Own })
		slices.SortFunc(some, netip.Addr.Compare)
		return slices.Compact(some)
	}
	return Rules{Peers: hosts(s.Peers), Clients: hosts(clients)}
}

// format returns the rules in the form in which they are stored.
func (r Rules) format() string { return fmt.Sprintf("peers %v, clients %v", r.Peers, r.Clients) }
