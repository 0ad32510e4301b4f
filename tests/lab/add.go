package lab

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/ovn-central/ovn-central-operator/tests/lab/internal/machine"
	"github.com/ovn-central/ovn-central-operator/tests/lab/internal/model"
)

// AddOptions are what a new unit can be told apart from the ordinary.
type AddOptions struct {
	// Address in 127.0.0.0/8; the next of the lab's network. That of a unit that was
	// removed by force makes a new member at a stale one's address.
	Address string
	// NoDatabases leaves the unit without servers, as before its charm has joined;
	// see [Unit.JoinDatabases].
	NoDatabases bool
	// NoHooks leaves its hooks, and the others' hooks about it, to [Lab.Settle].
	NoHooks bool
	// AgentRestarted is [Unit.RestartAgent], once the hooks have run.
	AgentRestarted bool
}

// AddUnit adds a unit: its databases are created or joined, then its hooks and
// those of the others are run until all is settled.
func (l *Lab) AddUnit(ctx context.Context) (*Unit, error) { return l.AddUnitWith(ctx, AddOptions{}) }

// AddUnits adds n units, one joining after the other, and settles once.
func (l *Lab) AddUnits(ctx context.Context, n int) ([]*Unit, error) {
	units := make([]*Unit, 0, n)
	for range n {
		u, err := l.AddUnitWith(ctx, AddOptions{NoHooks: true})
		if err != nil {
			return units, err
		}
		units = append(units, u)
	}
	return units, l.Settle(ctx)
}

// AddUnitWith adds a unit as it is told. The unit is returned even where its
// hooks fail.
func (l *Lab) AddUnitWith(ctx context.Context, o AddOptions) (*Unit, error) {
	u, err := l.newUnit(o)
	if err != nil {
		return nil, fmt.Errorf("cannot add a unit: %w", err)
	}
	if !o.NoDatabases {
		if err := u.JoinDatabases(ctx); err != nil {
			return u, err
		}
	}
	if !o.NoHooks {
		if err := l.Settle(ctx); err != nil {
			return u, err
		}
	}
	if o.AgentRestarted {
		return u, u.RestartAgent()
	}
	return u, nil
}

// newUnit puts a unit into the model and makes its machine.
func (l *Lab) newUnit(o AddOptions) (*Unit, error) {
	var added *model.Unit
	var err error
	l.model.Do(func(s *model.State) {
		host := firstHost + s.NextUnit
		address := o.Address
		if address == "" {
			address = fmt.Sprintf("%s.%d", s.Network, host)
		}
		switch {
		case s.AppDying:
			err = fmt.Errorf("application %q is being removed", s.App)
		case o.Address == "" && host > lastHost:
			err = fmt.Errorf("the lab's network has no address left")
		default:
			added = s.AddUnit(address)
		}
	})
	if err != nil {
		return nil, err
	}
	u, err := l.furnishUnit(added)
	if err != nil {
		l.model.Do(func(s *model.State) { s.Remove(added.Name) })
		return nil, err
	}
	l.mu.Lock()
	l.units[u.name] = u
	l.mu.Unlock()
	return u, l.model.Save()
}

// furnishUnit makes the machine of a unit and unpacks the charm there.
func (l *Lab) furnishUnit(added *model.Unit) (*Unit, error) {
	m := &machine.Machine{
		Dir: filepath.Join(l.dir, unitDir(l.app(), added.Number)), Lab: l.dir, Address: added.Address,
	}
	if err := machine.Create(m, l.program); err != nil {
		return nil, err
	}
	u := newUnit(l, added, m)
	return u, copyTree(l.charmDir(), u.CharmDir())
}

func (l *Lab) app() (app string) {
	l.model.Do(func(s *model.State) { app = s.App })
	return app
}
