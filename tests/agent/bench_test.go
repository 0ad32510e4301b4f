package agent

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// From a kill -9 of the holder until the next one acts, by the TTL: at most 1.5. What three idle
// agents commit, and what a change of holder does: 0 and 1.
func BenchmarkTakeoverAgainstItsTTL(b *testing.B) {
	var took time.Duration
	var idle, changed, rounds uint64
	for b.Loop() {
		p := newPlane(b)
		first := p.holder(p.agents...)
		before := p.database().Committed()
		always(b, func() bool { return p.status(first).Acts }, 2*ttl, ttl/4)
		idle += p.database().Committed() - before
		begun, before := time.Now(), p.database().Committed()
		require.NoError(b, first.Kill())
		_, one := p.replaced(first, begun)
		took, rounds = took+one, rounds+1
		changed += p.database().Committed() - before
	}
	b.ReportMetric(float64(took)/float64(rounds)/float64(ttl), "times-TTL")
	b.ReportMetric(float64(idle)/float64(rounds), "commits-idle")
	b.ReportMetric(float64(changed)/float64(rounds), "commits-a-change")
}
