//go:build programs

package ovsdb_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
)

// rounds is how often two clients race: enough for both orders and for ties.
const rounds = 60

// race makes two clients swap the same old value at the same moment, each through its own member, and returns which
// did.
func race(t *testing.T, contenders []*ovsdb.Global, key, old, round string) []bool {
	t.Helper()
	ctx := within(t, patience)
	var wg sync.WaitGroup
	won, failed := make([]bool, len(contenders)), make([]error, len(contenders))
	start := make(chan struct{})
	for i, g := range contenders {
		wg.Go(func() {
			<-start
			won[i], failed[i] = g.Swap(ctx, key, old, fmt.Sprintf("%s by %d", round, i))
		})
	}
	close(start)
	wg.Wait()
	for _, err := range failed {
		require.NoError(t, err)
	}
	return won
}

// winner is the value written by the only client that reports success.
func winner(t *testing.T, won []bool, round string) string {
	t.Helper()
	value := ""
	for i, w := range won {
		if w {
			require.Empty(t, value, "%s: both won", round)
			value = fmt.Sprintf("%s by %d", round, i)
		}
	}
	return value
}

// settle returns once both members have the leader's value.
func settle(t *testing.T, contenders []*ovsdb.Global, key, value string) {
	t.Helper()
	for _, g := range contenders {
		require.Eventually(t, func() bool { return read(t, g)[key] == value }, patience, 1)
	}
}

func TestSwap_two_followers_one_wins(t *testing.T) {
	t.Parallel()
	members := cluster(t, ovndb.NB, 3)
	contenders := []*ovsdb.Global{connect(t, members[1]), connect(t, members[2])}
	value, wins := "start", 0
	require.True(t, swap(t, contenders[0], "", value))
	settle(t, contenders, key, value)
	for n := range rounds {
		round := fmt.Sprintf("round %d", n)
		if next := winner(t, race(t, contenders, key, value, round), round); next != "" {
			value = next
			wins++
		}
		settle(t, contenders, key, value)
	}
	assert.Positive(t, wins)
}

func TestSwap_two_followers_one_makes_row(t *testing.T) {
	t.Parallel()
	members := cluster(t, ovndb.SB, 3)
	contenders := []*ovsdb.Global{connect(t, members[1]), connect(t, members[2])}
	for n := range rounds {
		// In the first round not even the row exists.
		round, key := fmt.Sprintf("round %d", n), fmt.Sprintf("%s-%d", key, n)
		value := winner(t, race(t, contenders, key, "", round), round)
		require.NotEmpty(t, value, round)
		settle(t, contenders, key, value)
	}
}
