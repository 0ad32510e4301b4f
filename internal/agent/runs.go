package agent

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/journal"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
)

// byAgent is the suffix of an agent's name in the journal.
const byAgent = ", agent"

// readRuns reads from the journal which runs of agents were interrupted, once per record and after each own run. They
// belong to this process, or to an agent that may write no more since its term has ended, such as a removed unit's. A
// drain that is still requested is continued. A unit that does not act reports none.
func (g *gateways) readRuns(ctx context.Context, at *ovsdb.Gateways, inv *gateway.Inventory, value string,
	acts bool,
) error {
	if !acts {
		g.unfinished, g.noted = nil, ""
		return nil
	}
	if value == g.noted {
		return nil
	}
	j, err := gateway.ReadJournal(ctx, at)
	if err != nil {
		return err
	}
	drains := maintenance.ParseRecords(inv.NB.IDs).Drains
	g.unfinished = slices.DeleteFunc(j.Unfinished(), func(e journal.Entry) bool {
		_, drained := drains[e.Chassis]
		return !strings.HasSuffix(e.By, byAgent) || drained
	})
	g.noted = value
	return nil
}

// endRuns records, in one transaction that waits for the record, that interrupted runs have nothing left to do. Their
// changes stay in the journal, so that they can be reverted.
func (g *gateways) endRuns(ctx context.Context, t turn) (changed bool, _ time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, passTimeout)
	defer cancel()
	s := g.agent.service(t.value)
	defer s.Close()
	var ids []string
	for _, e := range g.unfinished {
		ids = append(ids, e.ID)
	}
	if err := s.Finish(ctx, ids...); err != nil {
		g.detector.Everything(g.agent.now() + retryPause) // look at all again
		return false, 0, err
	}
	g.noted = ""
	return true, 0, nil
}
