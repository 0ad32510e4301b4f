// Package loopbacktest gives tests loopback addresses for their servers.
package loopbacktest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

// attempts limits the search for a free network: a run of all tests uses some tens of 64,000 networks at once.
const attempts = 1000

// Network returns the first three numbers of a /24 of the loopback (127.0.0.0/8) that only this test uses until it
// ends. Tests of other packages run at the same time, and their servers must not use the same addresses. A listener
// on the network's last address reserves the network, which is therefore free again even if the test is killed.
func Network(t testing.TB) string {
	t.Helper()
	for range attempts {
		network := fmt.Sprintf("127.%d.%d", 2+rand.IntN(250), rand.IntN(256))
		claim, err := new(net.ListenConfig).Listen(t.Context(), "tcp", network+".254:6640")
		if err == nil {
			t.Cleanup(func() { _ = claim.Close() })
			return network
		}
	}
	require.Fail(t, "no network of the loopback is free")
	return ""
}
