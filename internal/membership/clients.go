package membership

import (
	"context"
	"fmt"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
)

// clientsPatience bounds the wait for clients before a server is taken down; the time that a large database takes to
// be sent adds to it ([raft.Patience]). Some clients never settle, and a restart that is due must happen.
const clientsPatience = 30 * time.Second

const clientsInterval = 250 * time.Millisecond

// awaitClients returns once the clients of this unit's server have settled, or after a while. They may come from the
// server that was restarted before. If this server went down while it sends them the database, all of them would fetch
// it once more from the remaining server. Locks are renewed meanwhile.
func (s *Changer) awaitClients(ctx context.Context, db ovndb.Database, renew func(context.Context) error) error {
	patience := s.Patience(db, clientsPatience)
	until, progress := s.Now().Add(patience), s.progressSince(time.Time{})
	for looks := []ovndb.Clients{}; ; {
		clients, err := s.Observer.CountClients()
		if err != nil {
			s.Log.WarnContext(ctx, "cannot count the clients; not waiting for them", "database", db.Short(), "error", err)
			return nil
		}
		now := clients[db]
		if looks = append(looks, now); plan.ClientsSettled(looks) {
			return nil
		}
		waits := fmt.Sprintf("%s: %d clients, %d of which are being served", db.Short(), now.Connected, now.Busy)
		if !s.Now().Before(until) {
			s.Log.InfoContext(ctx, "not waiting for clients any longer", "state", waits, "waited", patience.String())
			return nil
		}
		if len(looks) > plan.SettledObservations {
			progress(ctx, fmt.Sprintf("%s; waiting until they are served, for at most %s", waits, patience))
		}
		if err := poll.Wait(ctx, clientsInterval); err != nil {
			return err
		}
		if err := renew(ctx); err != nil {
			return err
		}
	}
}
