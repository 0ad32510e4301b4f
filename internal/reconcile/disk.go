package reconcile

import (
	"context"
	"errors"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/membership"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// mend has a server whose file lacks entries write it anew. What hinders it is kept
// for the decision, which then says so.
func (u *Unit) mend(ctx context.Context, a *asked, db raft.Database) error {
	err := u.Members.Mend(ctx, db)
	lost := (*membership.LostError)(nil)
	if err == nil {
		return u.Members.TellLost(ctx, u.Members.Observe(ctx, db), "")
	} else if !errors.As(err, &lost) {
		return err
	}
	u.Log.ErrorContext(ctx, err.Error())
	if a.unmended == nil {
		a.unmended = map[raft.Database]string{}
	}
	a.unmended[db] = lost.Err.Error()
	return nil
}

// mendAll makes sure of the files of all servers that are about to be stopped.
func (u *Unit) mendAll(ctx context.Context) error {
	for _, db := range raft.Databases() {
		if err := u.Members.Mend(ctx, db); err != nil {
			return err
		}
	}
	return nil
}

// withLost adds to restarts that are due what stands against them.
func (u *Unit) withLost(ctx context.Context, pending map[plan.Service]string) (map[plan.Service]string, error) {
	for _, db := range raft.Databases() {
		reason, due := pending[plan.ServiceOf(db)]
		if !due {
			continue
		}
		lost, err := u.Members.Lost(ctx, u.Members.Observe(ctx, db))
		if err != nil {
			return nil, err
		}
		if lost != "" {
			pending[plan.ServiceOf(db)] = reason + "; not before its file, which lacks entries, is written anew"
		}
	}
	return pending, nil
}

// tellLost has the other units know of a server that could not be mended, and of one
// that was.
func (u *Unit) tellLost(ctx context.Context, o Outcome) {
	for _, c := range o.Report.Clusters {
		l, lost := local(o, c.Database), o.state.Databases[c.Database].Damage
		told := c.Condition == plan.Serving && slices.Contains(c.View.Lost, c.Status.Server)
		if l.Condition != plan.Serving || lost == "" && !told {
			continue
		}
		if err := u.Members.TellLost(ctx, l, lost); err != nil {
			u.Log.WarnContext(ctx, err.Error())
		}
	}
}
