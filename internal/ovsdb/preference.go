package ovsdb

import (
	"context"
	"sync"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// answerTimeout limits the question of which server leads. A server that hangs still accepts connections.
const answerTimeout = 2 * time.Second

// preferred orders the endpoints of a database: the leader, which needs no forwarding of writes; then members of its
// cluster, in the order given; then those that are cut off or don't answer in time, since that may have changed by the
// time of use.
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
	var sorted []string
	for rank := range 3 {
		for i, endpoint := range endpoints {
			if ranks[i] == rank {
				sorted = append(sorted, endpoint)
			}
		}
	}
	return sorted
}
