package client

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/writes"
)

func TestRemotesAreWhatAClientMakesOfTheRelation(t *testing.T) {
	t.Parallel()
	got, err := NewRemotes(map[string]map[string]string{
		"ovn-central/1": {"bound-address": `"10.99.0.2"`},
		"ovn-central/0": {"bound-address": `"[fd99::1]"`},
	})
	require.NoError(t, err)
	assert.Equal(t, Remotes{
		NB:      "ssl:[fd99::1]:6641,ssl:10.99.0.2:6641",
		SB:      "ssl:[fd99::1]:16642,ssl:10.99.0.2:16642",
		Chassis: "ssl:[fd99::1]:6642,ssl:10.99.0.2:6642",
	}, got)

	for name, published := range map[string]string{"nothing": "", "not JSON": "10.99.0.2", "not a string": "7"} {
		_, err := NewRemotes(map[string]map[string]string{"ovn-central/0": {"bound-address": published}})
		assert.ErrorContains(t, err, "bound-address of ovn-central/0", name)
	}
}

// What the writer is there for: an acknowledged write that is not read back, and no other.
func TestWriteThatIsNotReadBackIsLost(t *testing.T) {
	t.Parallel()
	for _, target := range targets {
		stored := func(numbers ...string) map[string]bool {
			var rows []string
			for _, n := range numbers {
				rows = append(rows, `{"`+mapColumn[target.table]+`":["map",[["row","`+n+`"]]]}`)
			}
			found, err := target.numbers(`[{"rows":[` + strings.Join(rows, ",") + `]}]`)
			require.NoError(t, err)
			return found
		}
		log := noted("1 1700000001000\n2 1700000002000\n4 1700000005500\n5 17000000", "3 1700000003000 timed out\n")
		want := writes.Outcome{Acknowledged: 3, Unacknowledged: 1, LongestGap: 3500 * time.Millisecond}
		assert.Equal(t, want, log.Judge(stored("1", "2", "3", "4")))
		want.Lost, want.Missing = 1, []int{1}
		assert.Equal(t, want, log.Judge(stored("1", "4", "5")))
	}
}
