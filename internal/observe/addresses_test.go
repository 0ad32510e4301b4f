package observe_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// bindings are the addresses of each binding, as network-get has them.
type bindings map[string]string

func (b bindings) Run(_ context.Context, c run.Command) ([]byte, error) {
	var listed, plain []string
	for address := range strings.FieldsSeq(b[c.Args[len(c.Args)-1]]) {
		listed, plain = append(listed, fmt.Sprintf(`{"value":%q}`, address)), append(plain, fmt.Sprintf("%q", address))
	}
	return fmt.Appendf(nil, `{"bind-addresses":[{"interface-name":"eth0","addresses":[%s]}],"ingress-addresses":[%s]}`,
		strings.Join(listed, ","), strings.Join(plain, ",")), nil
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		peer, clients string
		primary, all  string
	}{
		"one_address":  {"10.0.0.1", "10.0.0.1", "10.0.0.1", "10.0.0.1"},
		"two_families": {"10.0.0.1 fd42::1", "10.0.0.1 fd42::1", "10.0.0.1", "10.0.0.1 fd42::1"},
		"two_spaces":   {"10.0.0.1 10.0.0.9", "10.9.0.1", "10.0.0.1 10.9.0.1", "10.0.0.1 10.0.0.9 10.9.0.1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := &observe.Observer{Machine: &observe.Machine{Log: slog.New(slog.DiscardHandler)}}
			a, err := o.Addresses(
				t.Context(), juju.New(bindings{"ovsdb-peer": tt.peer, "ovsdb-cms": tt.peer, "ovsdb": tt.clients}), nil, true, false,
			)
			require.NoError(t, err)
			assert.Equal(t, "10.0.0.1", a.Own.String())
			words := func(all []netip.Addr) string { return strings.Trim(fmt.Sprint(all), "[]") }
			assert.Equal(t, [2]string{tt.primary, tt.all}, [2]string{words(a.Primary), words(a.All)})
		})
	}
}
