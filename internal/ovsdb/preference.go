package ovsdb

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// answerTimeout limits the question of which server leads. A server that hangs still accepts connections.
const answerTimeout = 2 * time.Second

// preferred sorts the endpoints of a database: first the leader, which does not forward writes; then members that are
// connected to a leader; then those that are not, or don't answer in time, since they may do so when they are used.
func (d *Dialer) preferred(ctx context.Context, db ovndb.Database, endpoints []string) []string {
	if len(endpoints) < 2 {
		return endpoints
	}
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	ranks := make([]int, len(endpoints))
	var asked sync.WaitGroup
	for i, endpoint := range endpoints {
		asked.Go(func() {
			state, err := d.Server(ctx, db, endpoint)
			switch {
			case err != nil || !state.Connected:
				ranks[i] = 2
			case state.Clustered && !state.Leader:
				ranks[i] = 1
			}
		})
	}
	asked.Wait()
	order := map[string]int{}
	for i, endpoint := range endpoints {
		order[endpoint] = ranks[i]
	}
	byOrder := func(a, b string) int { return cmp.Compare(order[a], order[b]) }
	return slices.SortedStableFunc(slices.Values(endpoints), byOrder)
}
