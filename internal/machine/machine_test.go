package machine

import (
	"io"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// The kernel's table shows the connected clients, and which connections have data in flight.
func TestCountConnections(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", address)
		require.NoError(t, err)
		defer listener.Close()
		bound, err := netip.ParseAddrPort(listener.Addr().String())
		require.NoError(t, err)
		counts := func(want ovndb.Clients) {
			t.Helper()
			assert.Eventually(t, func() bool {
				tables, err := readConnections()
				return err == nil && countConnections(tables, []uint16{1, bound.Port()}) == want
			}, 5*time.Second, 5*time.Millisecond, "%+v", want)
		}
		counts(ovndb.Clients{})
		var clients []net.Conn
		for range 12 {
			client, err := new(net.Dialer).DialContext(t.Context(), "tcp", listener.Addr().String())
			require.NoError(t, err)
			defer client.Close()
			clients = append(clients, client)
			server, err := listener.Accept()
			require.NoError(t, err)
			defer server.Close()
			if len(clients) == 1 {
				_, err = server.Write(make([]byte, 1)) // read below
				require.NoError(t, err)
				_, err = io.ReadFull(client, make([]byte, 1))
				require.NoError(t, err)
			}
			if len(clients) == 2 {
				_, err = client.Write(make([]byte, 100)) // which the server does not read
				require.NoError(t, err)
			}
		}
		counts(ovndb.Clients{Connected: 12, Busy: 1})
		reached, err := ConnectedTo()
		require.NoError(t, err)
		assert.Contains(t, reached, bound)
		require.NoError(t, clients[2].Close())
		counts(ovndb.Clients{Connected: 11, Busy: 1})
	}
}

func TestCountConnections_form_of_table(t *testing.T) {
	t.Parallel()
	table := `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0B00630A:19F1 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1
   1: 0B00630A:19F1 1500630A:C350 01 00000000:00000000 00:00000000 00000000     0        0 2
   2: 0B00630A:19F1 1600630A:C351 01 003EF240:00000000 01:00000014 00000000     0        0 3
   3: 0B00630A:19F1 1600630A:C352 06 00000000:00000000 03:00000014 00000000     0        0 0
   4: 1500630A:C350 0B00630A:19F1 01 00000000:00000000 00:00000000 00000000     0        0 4
   5: 0B00630A:19F2 1600630A:C353 01 00000000:00000100 00:00000000 00000000     0        0 5
   6: 0B00630A:ZZZZ 1600630A:C353 01
`
	assert.Equal(t, ovndb.Clients{Connected: 2, Busy: 1}, countConnections([]byte(table), []uint16{6641}))
	assert.Equal(t, ovndb.Clients{Connected: 1, Busy: 1}, countConnections([]byte(table), []uint16{6642, 16642}))
}
