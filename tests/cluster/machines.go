package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
)

// restart restarts one machine after another, and waits for each until its members have
// caught up.
func (s *Story) restart(ctx context.Context) error {
	app := s.App.(OwnMachines) //nolint:forcetypeassert // its runners have them
	units, err := app.Units(ctx)
	if err != nil {
		return err
	}
	for _, unit := range slices.Sorted(maps.Keys(units)) {
		s.watch.set(Scene{Certified: true, Moving: true, Down: []string{unit}})
		if err := app.Reboot(ctx, unit); err != nil {
			return err
		}
		if err := s.well(ctx, 3); err != nil {
			return err
		}
	}
	return nil
}

// cut cuts one machine off, kicks its members through another unit, and puts the cable
// back: the unit finds itself removed and joins again.
func (s *Story) cut(ctx context.Context) error {
	app := s.App.(OwnMachines) //nolint:forcetypeassert // its runners have them
	lost, err := s.who(ctx, false)
	if err != nil {
		return err
	}
	survivor, err := s.who(ctx, true)
	if err != nil {
		return err
	}
	before, err := s.identities(ctx, lost)
	if err != nil {
		return err
	}
	s.watch.set(Scene{Certified: true, Moving: true, Down: []string{lost}, Cut: true})
	if err := errors.Join(app.CutOff(ctx, lost, true), s.write(ctx)); err != nil {
		return err
	}
	args := []string{"nb-identity=" + before["ovnnb"], "sb-identity=" + before["ovnsb"], "i-really-mean-it=true", "force=true"}
	err = s.until(ctx, func(map[string]Unit) string {
		if _, err := app.Run(ctx, survivor, "kick", args...); err != nil {
			return err.Error()
		}
		return ""
	})
	if err != nil {
		return err
	}
	results, err := app.Run(ctx, survivor, "cluster-status")
	if err == nil && !complete(results, 2) {
		err = fmt.Errorf("two members are not all that %s tells of: %v", survivor, results)
	}
	if err := errors.Join(err, s.write(ctx), app.CutOff(ctx, lost, false)); err != nil {
		return err
	}
	if err := s.well(ctx, 3); err != nil {
		return err
	}
	after, err := s.identities(ctx, lost)
	for db, identity := range after {
		if identity == before[db] {
			err = errors.Join(err, fmt.Errorf("%s joined as the member of %s that was kicked", lost, db))
		}
	}
	return err
}

// powerless takes the power of the machine that leads: the others go on, and it comes back
// by itself.
func (s *Story) powerless(ctx context.Context) error {
	app := s.App.(OwnMachines) //nolint:forcetypeassert // its runners have them
	unit, err := s.leads(ctx, "ovnsb")
	if err != nil {
		return err
	}
	s.watch.set(Scene{Certified: true, Moving: true, Down: []string{unit}})
	if err := errors.Join(app.PowerOff(ctx, unit), s.write(ctx), app.PowerOn(ctx, unit)); err != nil {
		return err
	}
	return s.well(ctx, 3)
}

// serverID is in what cluster-status shows of each database.
var serverID = regexp.MustCompile(`Server ID: ([0-9a-f]{4})`)

// identities are those of a unit's own members, by the result that tells of them.
func (s *Story) identities(ctx context.Context, unit string) (map[string]string, error) {
	results, err := s.App.Run(ctx, unit, "cluster-status")
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	for _, db := range []string{"ovnnb", "ovnsb"} {
		m := serverID.FindStringSubmatch(text(results[db]))
		if m == nil {
			return nil, fmt.Errorf("%s has no identity in %s: %v", unit, db, results)
		}
		all[db] = m[1]
	}
	return all, nil
}
