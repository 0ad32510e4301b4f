// Package node takes nodes out of a cloud and puts them back. Package maintenance decides; this package reads the
// databases and makes the steps. Each step can be repeated.
package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/cordon"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/journal"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
)

// Service shows and changes nodes. It is not safe for concurrent use.
type Service struct {
	// Gateways has the connections. Close closes it.
	Gateways *gateway.Service
	// Charm returns the application's units and members. It is nil if there is no charm.
	Charm func(context.Context) maintenance.Charm
	// Unit is this unit; it is empty outside of a unit.
	Unit string
	// Health returns the health of the clusters. It is nil if that can't be known.
	Health func(context.Context) []maintenance.DatabaseHealth
	// Command formats a command as an operator types it.
	Command func(command.Command) string
}

// Close closes the connections.
func (s *Service) Close() { s.Gateways.Close() }

type snapshot struct {
	inventory *gateway.Inventory
	nodes     []maintenance.Node
	bound     []maintenance.Binding
	charm     maintenance.Charm
}

// unknown returns why units of the charm may be on nodes that have no hold for them.
func (x snapshot) unknown() (all []string) {
	for _, why := range x.charm.Unknown {
		all = append(all, why.String())
	}
	return all
}

func (s *Service) observe(ctx context.Context) (snapshot, error) {
	inventory, err := s.Gateways.Observe(ctx)
	if err != nil {
		return snapshot{}, err
	}
	x, err := s.nodesOf(ctx, inventory, "")
	for i, n := range x.nodes {
		if operation, hold := n.NextOperation(); hold != "" {
			x.nodes[i].Next = s.Command(s.command(operation, n.Typed(), "name", hold))
		} else if operation != "" {
			x.nodes[i].Next = s.Command(s.command(operation, n.Typed()))
		}
	}
	return x, err
}

// nodesOf makes the nodes from an inventory of gateways. If chassis is not empty, it reads only the bindings of that
// chassis.
func (s *Service) nodesOf(ctx context.Context, inventory *gateway.Inventory, chassis string) (snapshot, error) {
	occupied, err := gateway.Ask(ctx, s.Gateways, func(g *ovsdb.Gateways, ctx context.Context) (ovsdb.Occupied, error) {
		return g.Occupied(ctx, chassis)
	})
	if err != nil {
		return snapshot{}, err
	}
	x := snapshot{inventory: inventory, bound: bindings(occupied)}
	if s.Charm != nil {
		x.charm = s.Charm(ctx)
	}
	x.nodes = maintenance.Nodes(maintenance.Seen{
		Records: maintenance.ParseRecords(inventory.NB.IDs), State: inventory.State, Bindings: x.bound,
		Private:   inventory.SB.Private,
		Answered:  answered(inventory.SB.Chassis),
		Addresses: occupied.Addresses, Charm: x.charm,
	})
	return x, nil
}

// answered returns when the ovn-controller of each chassis last followed nb_cfg. It lacks those that never did.
func answered(chassis []ovsdb.ChassisRow) map[string]time.Time {
	all := map[string]time.Time{}
	for _, row := range chassis {
		if row.Known && row.Follows > 0 && row.At.UnixMilli() > 0 {
			all[row.Name] = row.At.UTC().Truncate(time.Second)
		}
	}
	return all
}

func bindings(o ovsdb.Occupied) []maintenance.Binding {
	all := make([]maintenance.Binding, len(o.Ports))
	for i, p := range o.Ports {
		all[i] = maintenance.Binding(p)
	}
	return all
}

func (s *Service) find(ctx context.Context, id string) (snapshot, maintenance.Node, *answer.Status) {
	x, err := s.observe(ctx)
	if err != nil {
		return x, maintenance.Node{}, new(inaccessible(err))
	}
	n, refused := x.resolve(id)
	return x, n, refused
}

func inaccessible(err error) answer.Status {
	return answer.Of(answer.ClusterNotAccessible,
		finding.New(finding.NodesUnread, finding.Subject{}, finding.Cause(err).Args()))
}

// refuse returns the answer for a finding about a node. The finding's remedies follow the details.
func (s *Service) refuse(reason answer.Reason, f finding.Finding, details ...answer.Message) answer.Status {
	refused := answer.Of(reason, f, details...)
	for _, way := range f.Remedies {
		refused = refused.With(s.remedy(f, way))
	}
	return refused
}

// remedy returns the message for a command to run next, or for work to do by hand.
func (s *Service) remedy(f finding.Finding, way finding.Remedy) answer.Message {
	if deed := f.Deed(way); deed != "" {
		return answer.Message{Message: deed, Kind: answer.MessageNext, Name: "by-hand"}
	}
	m := s.typed(way.Command)
	m.When = f.Condition(way)
	return m
}

// detail returns a finding with its remedies as one of an answer's details.
func (s *Service) detail(kind, name string, f finding.Finding) answer.Message {
	text := f.Message()
	for _, way := range f.Remedies {
		text += ": run: " + s.Command(way.Command)
	}
	return answer.Message{Message: text, Error: true, Kind: kind, Name: name, Code: string(f.Code)}
}

func about(n maintenance.Node, code finding.Code, args finding.Args, ways ...finding.Remedy) finding.Finding {
	return finding.New(code, finding.Subject{Name: n.Name()}, args, ways...)
}

// contended returns the answer if other clients keep changing the records.
func contended() answer.Status {
	return answer.Of(answer.Conflict, finding.New(finding.CordonsContended, finding.Subject{}, finding.Args{}))
}

// amend writes records and notes of the journal if external_ids of NB_Global fit the guard.
func (s *Service) amend(ctx context.Context, guard ovsdb.Guard, c maintenance.Change, notes journal.Writing) error {
	_, err := s.Gateways.Write(ctx, ovsdb.Change{Guard: guard, Put: c.Set, Drop: c.Drop, Notes: ovsdb.Notes(notes)})
	return err
}

// timedOut is the cause of the end of a context.
func timedOut(limit time.Duration) error {
	return finding.Reason{Code: finding.TimedOut, Age: limit}.Err()
}

// again judges and writes until the write is not lost to another client's change of the records.
func again(judge func() (answer.Status, error)) answer.Status {
	for range attempts {
		status, err := judge()
		switch {
		case errors.Is(err, ovsdb.ErrChanged):
			continue
		case err != nil:
			return inaccessible(err)
		}
		return status
	}
	return contended()
}

// cordon changes a cordon, unless it has changed since it was read, and tags the resulting revision in the same
// transaction.
func (s *Service) cordon(ctx context.Context, x snapshot, chassis string, cordoned bool,
	change maintenance.Change,
) error {
	operation := "uncordon"
	if cordoned {
		operation = "cordon"
	}
	tag, err := s.Gateways.Tagging(ctx, operation, chassis, x.inventory.Layout().WithCordon(chassis, cordoned))
	if err != nil {
		return err
	}
	guard := ovsdb.Guard{Has: maintenance.CordonNotePair(chassis, x.inventory.NB.IDs)}
	if cordoned {
		key, value := cordon.Pair(chassis)
		guard.Lacks = map[string]string{key: value}
	}
	return s.amend(ctx, guard, change, tag)
}

// tagged carries out a permitted operation on a node, and tags the resulting revision.
func (s *Service) tagged(ctx context.Context, operation string, n maintenance.Node,
	do func() answer.Status,
) (status answer.Status) {
	s.Gateways.Operate(ctx, operation, n.Chassis, func() bool {
		status = do()
		return status.OK()
	})
	return status
}

// note returns the note of a cordon, a hold or a drain, with the reason on one line.
func (s *Service) note(n maintenance.Node, reason string) maintenance.Note {
	reason = strings.Join(strings.Fields(reason), " ")
	return maintenance.Note{
		By: s.Gateways.By, At: s.Gateways.Now().UTC().Truncate(time.Second), Reason: reason,
		Hostname: n.Hostname,
	}
}

// List returns one node, or all nodes if id is empty. The answer is nil on success.
func (s *Service) List(ctx context.Context, id string) (maintenance.Report, *answer.Status) {
	report := maintenance.Report{At: s.Gateways.Now().UTC().Truncate(time.Second)}
	if id != "" {
		x, n, refused := s.find(ctx, id)
		report.Nodes, report.Unknown = []maintenance.Node{n}, x.unknown()
		return report, refused
	}
	x, err := s.observe(ctx)
	if err != nil {
		return maintenance.Report{}, new(inaccessible(err))
	}
	report.Nodes, report.Unknown, report.Outage = x.nodes, x.unknown(), schedule.FindOutage(x.inventory.State)
	return report, nil
}

// Cordon keeps new gateways from a node. The node keeps the gateways that it has.
func (s *Service) Cordon(ctx context.Context, r Request) answer.Status {
	return again(func() (status answer.Status, err error) {
		x, n, refused := s.find(ctx, r.Node)
		switch {
		case refused != nil:
			return *refused, nil
		case n.Cordon != nil:
			return s.cordonAgain(ctx, x, n, r)
		}
		hosted := x.inventory.State.Mastered(n.Chassis)
		change := maintenance.CordonHosting(n.Chassis, s.note(n, r.Reason), hosted)
		if err := s.cordon(ctx, x, n.Chassis, true, change); err != nil {
			return status, err
		}
		return answer.New(answer.Success, n.Name()+" is cordoned: nothing new is scheduled on it; what it hosts stays",
			s.next(maintenance.OperationUncordon, n)), nil
	})
}

// cordonAgain replaces the reason of a cordon if another one is given. The record of the gateways that the node hosted
// stays.
func (s *Service) cordonAgain(ctx context.Context, x snapshot, n maintenance.Node, r Request) (answer.Status, error) {
	note := s.note(n, r.Reason)
	changed := note.Reason != "" && note.Reason != n.Cordon.Reason
	if changed {
		guard := ovsdb.Guard{Has: maintenance.CordonPairs(n.Chassis, x.inventory.NB.IDs)}
		if err := s.amend(ctx, guard, maintenance.Cordon(n.Chassis, note), journal.Writing{}); err != nil {
			return answer.Status{}, err
		}
		n.Cordon = &note
	}
	state, next := "cordoned already", maintenance.OperationUncordon
	if n.Drain != nil {
		state, next = "drained, and so cordoned already", maintenance.OperationUndrain
	}
	text := fmt.Sprintf("%s is %s, %s", n.Name(), state, n.Cordon.Text())
	return answer.New(answer.Success, text, s.next(next, n)), nil
}

// Uncordon ends a cordon. A drained node needs [Service.Undrain].
func (s *Service) Uncordon(ctx context.Context, r Request) answer.Status {
	return again(func() (status answer.Status, err error) {
		x, n, refused := s.find(ctx, r.Node)
		switch {
		case refused != nil:
			return *refused, nil
		case n.Drain != nil:
			return s.refuse(answer.Conflict, about(n, finding.NodeDrained, finding.Args{},
				s.way(maintenance.OperationUndrain, n))), nil
		case n.Cordon == nil:
			return answer.New(answer.Success, n.Name()+" is not cordoned"), nil
		}
		if err := s.cordon(ctx, x, n.Chassis, false, maintenance.Uncordon(n.Chassis, s.note(n, ""))); err != nil {
			return status, err
		}
		return answer.New(answer.Success, n.Name()+" is no longer cordoned"), nil
	})
}

// Hold sets a hold on a node, which stays until it is released.
func (s *Service) Hold(ctx context.Context, r Request) answer.Status {
	name := r.Hold
	if wrong := maintenance.CheckHoldName(name); wrong != nil {
		return *wrong
	}
	_, n, refused := s.find(ctx, r.Node)
	if refused != nil {
		return *refused
	}
	if h := n.Held(name); h.Count > 0 {
		return answer.New(answer.Success, fmt.Sprintf("%s is held by %s already: %s", n.Name(), name,
			h.Detail(s.Gateways.Now(), time.Time{})))
	}
	if err := s.amend(ctx, ovsdb.Guard{}, maintenance.AddHold(n.Chassis, name, s.note(n, r.Reason)),
		journal.Writing{}); err != nil {
		return inaccessible(err)
	}
	return answer.New(answer.Success, fmt.Sprintf("%s is held by %s", n.Name(), name),
		s.next(maintenance.OperationRelease, n, "name", name))
}

// Release drops a hold that [Service.Hold] has set.
func (s *Service) Release(ctx context.Context, r Request) answer.Status {
	name := r.Hold
	_, n, refused := s.find(ctx, r.Node)
	if refused != nil {
		return *refused
	}
	h := n.Held(name)
	switch {
	case h.Derived:
		return s.refuse(answer.Conflict, about(n, finding.HoldDerived, finding.Args{Value: name}),
			s.holds([]maintenance.Hold{h}, time.Time{})...)
	case h.Count == 0:
		return s.refuse(answer.NotFound, about(n, finding.HoldUnknown, finding.Args{Value: strconv.Quote(name)}),
			s.holds(n.Holds, time.Time{})...)
	}
	if err := s.amend(ctx, ovsdb.Guard{}, maintenance.Release(n.Chassis, h), journal.Writing{}); err != nil {
		return inaccessible(err)
	}
	return answer.New(answer.Success, fmt.Sprintf("hold %s of %s is released", name, n.Name()))
}

// holds returns messages about holds; since is when derived holds were first seen.
func (s *Service) holds(all []maintenance.Hold, since time.Time) (messages []answer.Message) {
	for _, h := range all {
		messages = append(messages, answer.Message{
			Message: h.Detail(s.Gateways.Now(), since), Error: true,
			Kind: answer.MessageHold, Name: h.Name,
		})
	}
	return messages
}

func (s *Service) next(operation string, n maintenance.Node, given ...string) answer.Message {
	return s.typed(s.command(operation, n.Typed(), given...))
}

// command returns an action on a node, confirmed if it needs a confirmation; given has pairs of a parameter and its
// value.
func (s *Service) command(operation, node string, given ...string) command.Command {
	if slices.Contains(needConfirmation, operation) && !slices.Contains(given, "dry-run") {
		given = append(given, "i-really-mean-it", "true")
	}
	c := command.Command{Unit: s.Unit, Action: operation, Params: []command.Param{{Key: "node", Value: node}}}
	for pair := range slices.Chunk(given, 2) {
		c.Params = append(c.Params, command.Param{Key: pair[0], Value: pair[1]})
	}
	return c
}

func (s *Service) way(operation string, n maintenance.Node, given ...string) finding.Remedy {
	return finding.Do(s.command(operation, n.Typed(), given...))
}

func (s *Service) typed(c command.Command) answer.Message {
	return answer.Message{Message: s.Command(c), Kind: answer.MessageNext, Name: c.Action}
}

func (s *Service) progress(ctx context.Context, format string, args ...any) {
	if s.Gateways.Progress != nil {
		s.Gateways.Progress(ctx, fmt.Sprintf(format, args...))
	}
}
