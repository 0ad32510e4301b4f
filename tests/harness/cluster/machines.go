package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/membership"
	"github.com/ovn-central/ovn-central-operator/internal/present"
)

// reuse removes a unit and adds another on the same machine, which still has the files of the first.
func (s *Story) reuse(ctx context.Context) error {
	going, err := s.unitOf(ctx, false)
	if err != nil {
		return err
	}
	if err := s.removeUnit(ctx, going); err != nil {
		return err
	}
	if err := s.App.(OwnMachines).AddOn(ctx, going); err != nil { //nolint:forcetypeassert // its runners have them
		return err
	}
	return s.well(ctx, 3)
}

// restart restarts the machines in turn, and waits each time until the members have caught up.
func (s *Story) restart(ctx context.Context) error {
	app := s.App.(OwnMachines) //nolint:forcetypeassert // its runners have them
	units, err := app.Units(ctx)
	if err != nil {
		return err
	}
	for _, unit := range slices.Sorted(maps.Keys(units)) {
		s.watch.set(Phase{Certified: true, Moving: true, Down: []string{unit}})
		if err := app.Reboot(ctx, unit); err != nil {
			return err
		}
		if err := s.well(ctx, 3); err != nil {
			return err
		}
	}
	return nil
}

// cut disconnects a machine, kicks its members, and reconnects it: the unit detects its removal and joins again.
func (s *Story) cut(ctx context.Context) error {
	app := s.App.(OwnMachines) //nolint:forcetypeassert // its runners have them
	lost, err := s.unitOf(ctx, false)
	if err != nil {
		return err
	}
	survivor, err := s.unitOf(ctx, true)
	if err != nil {
		return err
	}
	before, err := s.serverIDs(ctx, lost)
	if err != nil {
		return err
	}
	s.watch.set(Phase{Certified: true, Moving: true, Down: []string{lost}, Cut: true})
	if err := errors.Join(app.CutOff(ctx, lost, true), s.write(ctx)); err != nil {
		return err
	}
	args := []string{"nb-identity=" + before["ovnnb"][:4], "sb-identity=" + before["ovnsb"][:4], "i-really-mean-it=true", "force=true"}
	err = s.until(ctx, func(map[string]Unit) string {
		if _, err := app.Run(ctx, survivor, "kick", args...); err != nil {
			return err.Error()
		}
		return ""
	})
	if err != nil {
		return err
	}
	results, err := app.Run(ctx, survivor, "cluster-status", "format=json")
	if err == nil && !complete(results, 2) {
		err = fmt.Errorf("two members are not all that %s tells of: %v", survivor, results)
	}
	if err := errors.Join(err, s.write(ctx), app.CutOff(ctx, lost, false)); err != nil {
		return err
	}
	if err := s.well(ctx, 3); err != nil {
		return err
	}
	after, err := s.serverIDs(ctx, lost)
	for db, id := range after {
		if id == before[db] {
			err = errors.Join(err, fmt.Errorf("%s joined as the member of %s that was kicked", lost, db))
		}
	}
	return err
}

// powerCut cuts the power of the leader's machine: the others continue, and the machine boots again by itself.
func (s *Story) powerCut(ctx context.Context) error {
	app := s.App.(OwnMachines) //nolint:forcetypeassert // its runners have them
	unit, err := s.leads(ctx, "ovnsb")
	if err != nil {
		return err
	}
	s.watch.set(Phase{Certified: true, Moving: true, Down: []string{unit}})
	if err := errors.Join(app.PowerOff(ctx, unit), s.write(ctx), app.PowerOn(ctx, unit)); err != nil {
		return err
	}
	return s.well(ctx, 3)
}

// blackout cuts the power of all machines at once, so that no unit has another one to ask. (In kube-ovn's pull
// request 3101, start scripts waited for each other.) No cluster may be created again.
func (s *Story) blackout(ctx context.Context) error {
	app := s.App.(OwnMachines) //nolint:forcetypeassert // its runners have them
	there, err := app.Units(ctx)
	if err != nil {
		return err
	}
	units := slices.Sorted(maps.Keys(there))
	before, err := s.allServerIDs(ctx, units)
	if err != nil {
		return err
	}
	s.watch.set(Phase{Certified: true, Moving: true, Down: units, Blackout: true})
	if err := atOnce(ctx, units, app.PowerOff); err != nil {
		return err
	}
	if err := atOnce(ctx, units, app.PowerOn); err != nil {
		return err
	}
	if err := s.active(ctx, len(units)); err != nil {
		return err
	}
	s.watch.set(moving)
	if err := s.well(ctx, len(units)); err != nil {
		return err
	}
	after, err := s.allServerIDs(ctx, units)
	if err == nil && !reflect.DeepEqual(before, after) {
		err = fmt.Errorf("the members were %v, and are %v", before, after)
	}
	return err
}

func atOnce(ctx context.Context, units []string, do func(context.Context, string) error) error {
	errs := make([]error, len(units))
	var group sync.WaitGroup
	for i, unit := range units {
		group.Go(func() { errs[i] = do(ctx, unit) })
	}
	group.Wait()
	return errors.Join(errs...)
}

func (s *Story) allServerIDs(ctx context.Context, units []string) (map[string]map[string]string, error) {
	all := map[string]map[string]string{}
	for _, unit := range units {
		own, err := s.serverIDs(ctx, unit)
		if err != nil {
			return nil, err
		}
		all[unit] = own
	}
	return all, nil
}

// serverID matches the server IDs in cluster-status.
var serverID = regexp.MustCompile(`Server ID: [0-9a-f]{4} \(([0-9a-f-]{36})`)

func (s *Story) serverIDs(ctx context.Context, unit string) (map[string]string, error) {
	results, err := s.App.Run(ctx, unit, "cluster-status")
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	for _, db := range []string{"ovnnb", "ovnsb"} {
		m := serverID.FindStringSubmatch(text(results[db]))
		if m == nil {
			return nil, fmt.Errorf("%s has no server ID in %s: %v", unit, db, results)
		}
		all[db] = m[1]
	}
	return all, nil
}

// Findings are a unit's findings, the most important first.
type Findings []present.Document

// ReadFindings reads the results of the action health with format=json.
func ReadFindings(results any) (all Findings, err error) {
	text, is := results.(string)
	if !is {
		return nil, fmt.Errorf("cannot read findings: %v is no text", results)
	}
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		return nil, fmt.Errorf("cannot read findings: %w", err)
	}
	return all, nil
}

// Outcome returns the outcome of a kick from its result for one database.
func Outcome(result string) membership.KickOutcome {
	first, _, _ := strings.Cut(result, "\n")
	outcome, _, _ := strings.Cut(first, ":")
	return membership.KickOutcome(outcome)
}

// Find returns the first finding with the code about a subject such as `nb sb ovn-central/2`; "" matches any subject.
func (all Findings) Find(code finding.Code, subject string) (found present.Document, is bool) {
	i := slices.IndexFunc(all, func(d present.Document) bool {
		words := strings.Fields(d.Subject)
		return d.Code == string(code) && !slices.ContainsFunc(strings.Fields(subject), func(word string) bool { return !slices.Contains(words, word) })
	})
	if i < 0 {
		return found, false
	}
	return all[i], true
}

// Has reports whether there is such a finding.
func (all Findings) Has(code finding.Code, subject string) bool {
	_, is := all.Find(code, subject)
	return is
}

// Next returns the commands to type now: those of each finding's first remedy, if that has no condition.
func (all Findings) Next() (commands []string) {
	for _, d := range all {
		if len(d.Remedies) == 0 || d.Remedies[0].When != "" || len(d.Remedies[0].Commands) == 0 {
			continue
		}
		if first := d.Remedies[0].Commands[0]; !slices.Contains(commands, first) {
			commands = append(commands, first)
		}
	}
	return commands
}

// Commands returns the commands of a finding's remedies, whatever their conditions.
func Commands(d present.Document) (all []string) {
	for _, r := range d.Remedies {
		all = append(all, r.Commands...)
	}
	return all
}

// String returns a line for each finding.
func (all Findings) String() string {
	var lines []string
	for _, d := range all {
		lines = append(lines, fmt.Sprintf("%s %s %q: %s", d.Severity, d.Code, d.Subject, d.Message))
	}
	return strings.Join(lines, "\n")
}
