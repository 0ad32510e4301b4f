package writes

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// Every lost acknowledged write is reported, and nothing else: no failed write, and no row of another program.
func TestWrites_each_lost_write_is_reported(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		log, there := Log{}, map[string]bool{"another's": true}
		var lost []int
		for n := range r.IntN(20) {
			row := fmt.Sprint("row-", n)
			there[row] = r.IntN(3) > 0
			if r.IntN(4) == 0 {
				log.Failed++
				continue
			}
			if !there[row] {
				lost = append(lost, len(log.Acknowledged))
			}
			log.Acknowledged = append(log.Acknowledged, Acknowledgement{Row: row})
		}
		assert.Equal(t, Outcome{Acknowledged: len(log.Acknowledged), Lost: len(lost), Missing: lost, Unacknowledged: log.Failed}, log.Judge(there), seed)
	}
}

func TestWrites_longest_gap_includes_both_ends(t *testing.T) {
	t.Parallel()
	at := func(seconds int) time.Time { return time.Unix(int64(1000+seconds), 0) }
	between := Log{Acknowledged: []Acknowledgement{{"a", at(5)}, {"b", at(6)}, {"of no known time", time.Time{}}, {"c", at(9)}, {"d", at(10)}}}
	whole, late := between, between
	whole.Begun, whole.Ended = at(0), at(12)
	late.Ended = at(17)
	none := Log{Begun: at(0), Ended: at(8)}
	for name, test := range map[string]struct {
		log  Log
		from int
		want time.Duration
	}{
		"between two":                {between, 0, 3 * time.Second},
		"ends after it":              {between, 8, 3 * time.Second},
		"had ended":                  {between, 10, time.Second},
		"none":                       {between, 11, 0},
		"until the first":            {whole, 0, 5 * time.Second},
		"since the last":             {late, 0, 7 * time.Second},
		"nothing was acknowledged":   {none, 0, 8 * time.Second},
		"nothing was written either": {Log{}, 0, 0},
	} {
		assert.Equal(t, test.want, test.log.LongestGap(at(test.from)), name)
	}
}
