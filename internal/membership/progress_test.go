package membership

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/lease"
	"github.com/ovn-central/ovn-central-operator/internal/observe/observetest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// P8: a kick may take three election timers and more to be proved. Every 5 s the person who waits is shown what the
// kick waits for.
func TestKick_reports_progress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := observetest.JoinedBy4(t)
		s.NB = s.NB.Down("aa04")
		o := s.ObserverOn(new(observetest.Machine))
		o.Now = time.Now
		var told []string
		c := &Changer{
			Machine: o.Machine, Observer: o, Progress: func(_ context.Context, line string) { told = append(told, line) },
		}
		k := &kickOperation{
			changer: c, server: o.ObserveServer(t.Context(), ovndb.NB),
			target: raft.Peer{Member: raft.Member{Short: "aa04"}},
			// It needs no renewal in the time.
			lock: &lock{
				changer: c, database: ovndb.NB,
				held: lease.Held{Record: lease.Record{}.Taken("ovn-central/0", 5*time.Minute), Written: time.Now()},
			},
		}
		reason := k.await(t.Context())
		assert.Equal(t, "after 22s it still is in the configuration", reason, "the premise")
		assert.Equal(t, slices.Repeat([]string{"nb: waiting, it still is in the configuration"}, 4), told)
	})
}
