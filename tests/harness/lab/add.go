package lab

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/machine"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/model"
)

// AddOptions are the differences between a new unit and others.
type AddOptions struct {
	// Address is the machine's address, in 10.99.0.0/24; by default the next free one. It may be a stale member's
	// address.
	Address string
	// Fresh gives the unit a machine without packages. By default the lab prepares the machine as the Python charm
	// leaves it.
	Fresh bool
	// Disk is a unit that has left, of this lab or of another. The machine has that unit's disk.
	Disk *Unit
	// NoDatabases leaves the unit without databases and servers; see [Unit.JoinDatabases].
	NoDatabases bool
	// NoHooks leaves the unit's hooks, and the other units' hooks about it, to [Lab.Settle].
	NoHooks bool
}

// AddUnit adds a unit. It creates or joins the unit's databases, and runs all hooks until the lab is settled.
func (l *Lab) AddUnit(ctx context.Context) (*Unit, error) { return l.AddUnitWith(ctx, AddOptions{}) }

// AddUnits adds n units, one joining after the other, and settles once.
func (l *Lab) AddUnits(ctx context.Context, n int) ([]*Unit, error) {
	return l.AddUnitsWith(ctx, n, AddOptions{})
}

// AddUnitsWith adds n units with these options, and settles once.
func (l *Lab) AddUnitsWith(ctx context.Context, n int, o AddOptions) ([]*Unit, error) {
	o.NoHooks = true
	units := make([]*Unit, 0, n)
	for range n {
		u, err := l.AddUnitWith(ctx, o)
		if err != nil {
			return units, err
		}
		units = append(units, u)
	}
	return units, l.Settle(ctx)
}

// AddUnitWith adds a unit with these options. It returns the unit even if its hooks fail.
func (l *Lab) AddUnitWith(ctx context.Context, o AddOptions) (*Unit, error) {
	u, err := l.newUnit(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("cannot add a unit: %w", err)
	}
	if !o.NoDatabases && !o.Fresh {
		if err := u.JoinDatabases(ctx); err != nil {
			return u, err
		}
	}
	if !o.NoHooks {
		return u, l.Settle(ctx)
	}
	return u, nil
}

func (l *Lab) newUnit(ctx context.Context, o AddOptions) (*Unit, error) {
	var added *model.Unit
	var err error
	l.model.Do(func(s *model.State) {
		host := firstHost + s.NextUnit
		addresses := []string{cmp.Or(o.Address, address4(host))}
		if l.o.IPv6 {
			addresses = append(addresses, address6(host))
		}
		switch {
		case s.AppDying:
			err = fmt.Errorf("application %q is being removed", ApplicationName)
		case o.Address == "" && host > lastHost:
			err = fmt.Errorf("the lab's network has no address left")
		default:
			added = s.AddUnit(addresses...)
		}
	})
	if err != nil {
		return nil, err
	}
	u, err := l.createUnit(ctx, added, o)
	if err != nil {
		l.model.Do(func(s *model.State) { s.Remove(added.Name) })
		return nil, err
	}
	l.mu.Lock()
	l.units[u.name] = u
	l.mu.Unlock()
	if o.Fresh {
		return u, nil
	}
	return u, u.layOut(ctx)
}

func (l *Lab) createUnit(ctx context.Context, added *model.Unit, o AddOptions) (*Unit, error) {
	m := &machine.Machine{
		Dir: filepath.Join(l.o.Dir, unitDir(added.Number)), Lab: l.o.Dir, Address: added.Addresses[0], Others: added.Addresses[1:],
		Port: firstHost + added.Number, Restart: l.o.Restart, Bare: o.Fresh, QuietNorthd: !o.Fresh && !l.o.Northd,
	}
	err := machine.Create(m, l.program)
	if err == nil && !o.Fresh {
		err = m.LayOutPackages()
	}
	if err == nil {
		err = m.Boot(ctx, l.program)
	}
	if err == nil && o.Disk != nil {
		err = m.CopyDisk(o.Disk.Machine)
	}
	if err != nil {
		return nil, err
	}
	u := newUnitOf(l, added, m)
	return u, copyTree(l.charmDir(), u.CharmDir())
}
