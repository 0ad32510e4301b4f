package ovsdb

import (
	"context"
	"fmt"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
)

// northdInterval is how often to check whether ovn-northd has caught up.
const northdInterval = 50 * time.Millisecond

// Waiting is called at each check with the nb_cfg that ovn-northd has reached and the requested nb_cfg. It may be
// nil.
type Waiting func(followed, asked int64)

// SyncNorthd increments nb_cfg, as `ovn-nbctl --wait=sb sync` does. ovn-northd and all ovn-controllers answer that.
// SyncNorthd returns when ovn-northd has copied all earlier writes to SB.
func (g *Gateways) SyncNorthd(ctx context.Context, waiting Waiting) error {
	asked, err := g.AskNorthd(ctx)
	if err != nil {
		return err
	}
	return g.AwaitNorthd(ctx, asked, waiting)
}

// AskNorthd does [Gateways.SyncNorthd] without the wait. It returns the nb_cfg for [Gateways.AwaitNorthd].
func (g *Gateways) AskNorthd(ctx context.Context) (asked int64, err error) {
	return g.write(ctx, Guard{}, Amendment{}, true)
}

// AwaitNorthd waits until ovn-northd has reached the requested nb_cfg.
func (g *Gateways) AwaitNorthd(ctx context.Context, asked int64, waiting Waiting) error {
	for {
		answers, err := g.read(ctx, g.nb, query{table: ovndb.NB.GlobalTable(), columns: []string{"sb_cfg"}})
		if err != nil {
			return err
		}
		if len(answers[0]) == 1 {
			followed := answers[0][0].number("sb_cfg")
			if followed >= asked {
				return nil
			}
			if waiting != nil {
				waiting(followed, asked)
			}
		}
		if err := poll.Wait(ctx, northdInterval); err != nil {
			return fmt.Errorf("ovn-northd has not taken the changes to SB yet: %w", err)
		}
	}
}
