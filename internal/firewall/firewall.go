// Package firewall keeps a unit's firewall as the application needs it: open for the other units and the clients.
package firewall

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/facts"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ufw"
	"github.com/ovn-central/ovn-central-operator/internal/unitstate"
)

// Manager keeps the rules of a unit's firewall. A Manager is used for one hook.
type Manager struct {
	Firewall ufw.Firewall
	State    *unitstate.State
	Log      *slog.Logger
	// ensured reports whether Ensure was called in this hook.
	ensured bool
	// drifted is the result of Firewall.Drifted in this hook; nil before the call.
	drifted *bool
}

type kept struct {
	// Rules are the rules that were set last, in the form of format.
	Rules string `json:"rules,omitempty"`
	// Clients are the clients in these rules; nil if unknown.
	Clients []netip.Addr `json:"clients"`
	// Failure is why the last attempt to set rules failed; it is a text for people.
	Failure string `json:"failure,omitempty"`
}

var section = unitstate.NewSection[kept]("firewall")

// Due reports whether to call Ensure: the wanted rules differ from the last ones or from the machine's, or ufw is
// off. It asks the machine once. After a failure it reports false until ufw is on, unless the facts are thorough.
func (m *Manager) Due(ctx context.Context, o facts.Facts) bool {
	last := section.Get(m.State)
	if m.ensured || !o.Thorough && last.Clients == nil {
		return false
	}
	want, failed := wanted(o, last), !o.Thorough && last.Failure != ""
	if !failed && last.Rules != format(want) {
		return true
	}
	if m.drifted == nil {
		drifted, err := m.Firewall.Drifted(ctx, want)
		switch {
		case failed:
			drifted = err == nil
		case err != nil && !errors.Is(err, ufw.ErrAbsent):
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
func (m *Manager) Ensure(ctx context.Context, o facts.Facts) ([]finding.Finding, error) {
	m.ensured = true
	last := section.Get(m.State)
	want := wanted(o, last)
	err := m.Firewall.Ensure(ctx, want)
	last.Clients, last.Failure = append([]netip.Addr{}, want.Clients...), ""
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, ufw.ErrAbsent):
		last.Rules, last.Failure = format(want), finding.Reason{Code: finding.FirewallAbsent}.String()
	case err != nil:
		last.Failure, _, _ = strings.Cut(err.Error(), "\n")
	default:
		last.Rules = format(want)
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
	case err == nil, errors.Is(err, ufw.ErrAbsent), errors.Is(err, ufw.ErrInactive):
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

// wanted returns the rules for the facts. The peers are the other units, and all members of both clusters: a peer that
// has departed may connect until it is gone from both clusters. Unless the clients were read from Juju, those of the
// last rules are used.
func wanted(o facts.Facts, last kept) ufw.Rules {
	clients := last.Clients
	if o.Thorough {
		clients = nil
		for _, c := range o.Clients {
			clients = append(clients, c.Addresses...)
		}
	}
	own := o.Addresses.Own
	hosts := func(addresses []netip.Addr) []netip.Addr {
		some := slices.DeleteFunc(slices.Clone(addresses), func(a netip.Addr) bool { return !a.IsValid() || a == own })
		slices.SortFunc(some, netip.Addr.Compare)
		return slices.Compact(some)
	}
	peers := slices.Concat(o.Application.PeerAddresses(), o.MemberAddresses())
	return ufw.Rules{Peers: hosts(peers), Clients: hosts(clients)}
}

// format returns the rules in the form in which they are stored.
func format(r ufw.Rules) string { return fmt.Sprintf("peers %v, clients %v", r.Peers, r.Clients) }
