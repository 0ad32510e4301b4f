//go:build programs

package raftfile_test

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// checked matches the number of the invalid record in the output of ovsdb-tool check-cluster.
var checked = regexp.MustCompile(`: record (\d+) `)

func TestReadLog_agrees_with_check_cluster(t *testing.T) {
	t.Parallel()
	found := map[bool]int{}
	for seed := range uint64(150) {
		random := rand.New(rand.NewPCG(seed, 12)) //nolint:gosec // a test's
		records := randomLog(random)
		f := newLogFile(t)
		f.write(t, records...)
		log := f.log(t)
		reason, err := ovsctl.Files{Runner: run.Exec{}, Paths: f.paths}.Damaged(t.Context(), ovndb.NB)
		require.NoError(t, err)
		require.Equal(t, reason == "", log.Damage == "", "seed %d: %q, %q", seed, reason, log.Damage)
		if reason != "" {
			require.Equal(t, checked.FindStringSubmatch(reason)[1], strings.Fields(log.Damage)[1], "seed %d", seed)
		}
		found[reason == ""]++
	}
	assert.Greater(t, found[true], 20, "some are whole")
	assert.Greater(t, found[false], 20, "some are not")
}

// randomLog returns a log as servers write it, except that a record may be missing.
func randomLog(random *rand.Rand) []string {
	records := []string{record(logHeader)}
	end, committed, term := 2, 1, 1
	terms := map[int]int{1: 1}
	for range 3 + random.IntN(20) {
		switch random.IntN(6) {
		case 0:
			if committed+1 < end {
				committed += 1 + random.IntN(end-committed-1)
				records = append(records, commit(committed))
			}
		case 1:
			term++
			records = append(records, vote(term, 'a'))
		case 2:
			if back := committed + 1; back < end && random.IntN(2) == 0 {
				term++
				end = back + random.IntN(end-back)
			}
			fallthrough
		default:
			if term >= terms[end-1] {
				records = append(records, entry(end, term))
				terms[end] = term
				end++
			}
		}
	}
	if random.IntN(2) == 0 {
		at := 1 + random.IntN(len(records)-1)
		records = append(records[:at:at], records[at+1:]...)
	}
	return append(records, record(`{"term":9000}`))
}
