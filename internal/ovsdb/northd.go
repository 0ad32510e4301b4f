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

// AwaitNorthd waits until ovn-northd has reached the requested nb_cfg: then it has copied all earlier writes to SB. It
// calls waiting at each check with the nb_cfg that ovn-northd has reached.
func (g *Gateways) AwaitNorthd(ctx context.Context, asked int64, waiting func(followed int64)) error {
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
			waiting(followed)
		}
		if err := poll.Wait(ctx, northdInterval); err != nil {
			return fmt.Errorf("ovn-northd has not taken the changes to SB yet: %w", err)
		}
	}
}
