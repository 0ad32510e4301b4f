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

// Manager keeps the firewall of a unit as the application needs it. It lives for one hook.
type Manager struct {
	Firewall Firewall
	State    *unitstate.State
	Log      *slog.Logger
	// ensured is set once the firewall was seen to in this hook.
	ensured bool
	// drifted is, once the machine was asked, whether its rules are not those that were last set.
	drifted *bool
}

// Snapshot is what the rules follow from.
type Snapshot struct {
	// Thorough is set if Juju was asked for the clients. Otherwise they are those that were let in last.
	Thorough bool
	// Own is the unit's address. Peers are those of the other units, and of all members of both clusters: a peer
	// that has departed may connect until it is gone from both.
	Own            netip.Addr
	Peers, Clients []netip.Addr
}

// kept is what is remembered of the firewall.
type kept struct {
	// Rules are the rules as they were last set.
	Rules string `json:"rules,omitempty"`
	// Clients are the clients in them; nil is not known.
	Clients []netip.Addr `json:"clients"`
	// Failure is why they could not be set the last time, for people.
	Failure string `json:"failure,omitempty"`
}

var section = unitstate.NewSection[kept]("firewall")

// Due reports whether the firewall is to be set: other rules are wanted than were set last, or the machine has
// others, or ufw was switched off. The machine is asked once. A ufw that did not work the last time is left alone
// without a thorough look, until it is on.
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
			drifted = true // setting them says what is wrong
		}
		if drifted && !failed {
			m.Log.WarnContext(ctx, "the firewall's rules are not those that this unit has set")
		}
		m.drifted = &drifted
	}
	return *m.drifted
}

// Ensure sets the firewall. If that can't be done, as in a container without its kernel modules, the finding is
// that the unit's ports are open; the error is the context's.
func (m *Manager) Ensure(ctx context.Context, s Snapshot) ([]finding.Finding, error) {
	m.ensured = true
	last := section.Get(m.State)
	want := s.rules(last)
	_, err := m.Firewall.Initialize(ctx)
	if err == nil {
		_, err = m.Firewall.Ensure(ctx, want)
	}
	last.Clients, last.Failure = append([]netip.Addr{}, want.Clients...), ""
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, ErrAbsent):
		last.Rules, last.Failure = want.format(), "there is no ufw on this machine"
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

// Remove removes the rules. If ufw can't work, as in a container without its kernel modules, it never will:
// the error is the context's.
func (m *Manager) Remove(ctx context.Context) error {
	_, err := m.Firewall.Remove(ctx)
	switch {
	case err == nil, errors.Is(err, ErrAbsent), errors.Is(err, ErrInactive):
	case ctx.Err() != nil:
		return err
	default:
		m.Log.WarnContext(ctx, "cannot remove the firewall's rules; continuing", "error", err)
	}
	return nil
}

// Findings returns what went wrong the last time.
func (m *Manager) Findings() []finding.Finding {
	failure := section.Get(m.State).Failure
	if failure == "" {
		return nil
	}
	return []finding.Finding{finding.New(finding.FirewallFailed, finding.Subject{}, finding.Args{Detail: failure})}
}

// rules are the hosts that may connect to this unit's ports.
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

// format is the form in which rules are remembered.
func (r Rules) format() string { return fmt.Sprintf("peers %v, clients %v", r.Peers, r.Clients) }
