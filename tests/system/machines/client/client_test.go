package client

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/writes"
)

// Only an acknowledged write that is not read back is lost.
func TestWrite_not_read_back_is_lost(t *testing.T) {
	t.Parallel()
	for _, target := range targets {
		stored := func(numbers ...string) map[string]bool {
			var rows []string
			for _, n := range numbers {
				rows = append(rows, `{"`+target.column+`":["map",[["row","`+n+`"]]]}`)
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
