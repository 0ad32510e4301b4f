package reconcile

import (
	"log/slog"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/firewall"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/run/runtest"
)

// Most units run no hook but update-status for months. It looks once, and leaves a ufw alone that can't work.
func TestFirewallIsLookedAtByUpdateStatus(t *testing.T) {
	t.Parallel()
	clients := []netip.Addr{netip.MustParseAddr("192.0.2.7")}
	set := formatRules(firewall.Rules{Clients: clients})
	for name, c := range map[string]struct {
		failure, status string
		want            bool
	}{
		"switched off":                   {"", "Status: inactive\n", true},
		"rules are gone":                 {"", "Status: active\n", true},
		"it could not be switched on":    {"ufw: no kernel modules", "Status: inactive\n", false},
		"what was in the way may be not": {"cannot let 10.0.0.9 in", "Status: active\n", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := &Reconciler{
				Machine:  &observe.Machine{Log: slog.New(slog.DiscardHandler)},
				Firewall: firewall.Firewall{Runner: runtest.New(t, runtest.Expect("ufw", "status", "numbered").Writes(c.status))},
			}
			p := pass{record: &record{firewallKept: firewallKept{Firewall: set, FirewallClients: clients, FirewallFailure: c.failure}}, progress: &progress{}}
			for range 2 {
				assert.Equal(t, c.want, u.firewallDrift(t.Context(), p, u.rules(p)))
			}
		})
	}
}
