package recovery

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// finds returns a finding about the database and the named unit, member or address.
func (s State) finds(code finding.Code, name string, args finding.Args, remedies ...finding.Remedy) finding.Finding {
	f := finding.Of(code, s.Database, args, remedies...)
	f.Subject.Name = name
	return f
}

// Command returns the command for the request on a unit. It names a database if there is exactly one. The flags are
// parameters with the value true.
func (r Request) Command(unit string, databases []ovndb.Database, flags ...string) command.Command {
	c := command.Command{Unit: unit, Action: "recover"}
	add := func(key, value string) { c.Params = append(c.Params, command.Param{Key: key, Value: value}) }
	if r.Backup != "" {
		c.Action = "restore"
		add("from", r.Backup)
	}
	if len(databases) == 1 {
		add("database", databases[0].Short())
	}
	if len(r.GivenUp) > 0 {
		c.Params = append(c.Params, command.Param{Key: "give-up", Value: strings.Join(r.GivenUp, ","), Text: true})
	}
	if r.Force {
		flags = append([]string{"force"}, flags...)
	}
	for _, flag := range flags {
		add(flag, "true")
	}
	return c
}

// plans returns the command for a dry run of the request on a unit. A recovery includes all databases that have no
// leader there, so one command is right for both.
func (s State) plans(r Request, unit string) command.Command {
	if r.Backup == "" {
		return r.Command(unit, nil, dryRun)
	}
	return r.Command(unit, []ovndb.Database{s.Database}, dryRun)
}

const dryRun = "dry-run"

// Without returns the remedy that the command gives up units, under the condition that they are lost.
func Without(c command.Command, units ...string) finding.Remedy {
	return finding.If(finding.IfOff, c).For(strings.Join(units, ", "))
}

// without returns the remedy if units are lost: the request on the unit asked, which also gives them up.
func (s State) without(r Request, asked string, units ...string) finding.Remedy {
	return Without(s.plans(r.Repeated(units, false), asked), units...)
}

// instead returns the remedy if the other unit that has the request is lost: a recovery here, since only that unit's
// machine has the backup of a restore.
func (s State) instead(r Request, asked string) finding.Remedy {
	r.Backup, r.GivenUp = "", slices.DeleteFunc(slices.Clone(r.GivenUp), func(name string) bool {
		return s.givesUp(Request{GivenUp: []string{name}}, s.Unit)
	})
	return s.without(r, s.Unit, asked)
}

// lacks adds the refusal that the request needs a member that it does not give up. One finding names all members with
// the same code and subject.
func (v *Verdict) lacks(f finding.Finding, m Member) {
	giveUp := m.Unit
	if giveUp == "" {
		giveUp = string(m.ID)
	}
	for i, o := range v.Refusals {
		if o.Code == f.Code && o.Subject.Name == f.Subject.Name {
			v.Refusals[i].Args.Units = append(o.Args.Units, giveUp)
			return
		}
	}
	f.Args.Units = []string{giveUp}
	v.Refusals = append(v.Refusals, f)
}

// Lacking returns the units, and IDs of members of unknown units, that a request must give up to pass the refusal. It
// is empty if giving up does not help.
func Lacking(refusal finding.Finding) []string { return refusal.Args.Units }

// withWays adds remedies to those refusals of the request r that end if units are given up; the command gives up the
// units of all these refusals.
func (v *Verdict) withWays(s State, r Request) {
	var all []string
	for _, f := range v.Refusals {
		all = append(all, Lacking(f)...)
	}
	for i, f := range v.Refusals {
		if len(Lacking(f)) > 0 {
			v.Refusals[i].Remedies = Ways(f, s.without(r, s.Unit, all...))
		}
	}
}

// Ways returns the remedies of a refusal that ends if units are given up; the last one is without.
func Ways(lacking finding.Finding, without finding.Remedy) []finding.Remedy {
	if lacking.Code == finding.RecoveryNotReported {
		return []finding.Remedy{finding.ByHand(finding.StartMachine).For(strings.Join(Lacking(lacking), ", ")), without}
	}
	return []finding.Remedy{without}
}

// ahead refuses a recovery here because a member's unit last published newer data, or a leader. A lost unit can't
// correct that, so force permits the recovery. If it is a leader, that remedy is printed only if the operator
// gives the unit up.
func (s State) ahead(r Request, m Member, c Copy) finding.Finding {
	f := s.finds(finding.RecoveryHasQuorum, m.Unit, finding.Args{})
	if !c.HasRaftLeader {
		f = s.finds(finding.RecoveryNewerData, m.Unit, finding.Args{
			Detail: finding.Said(c.end()), Reasons: []finding.Reason{{Code: finding.OwnCopyEnds, Value: s.Own.end()}},
		})
	}
	switch leaves := s.dying(m.Unit); {
	case c.HasRaftLeader:
	case leaves && m.Answers: // a unit that is being removed makes no new cluster
		f.Remedies = []finding.Remedy{
			finding.Do(command.Command{Unit: m.Unit, Action: "backup"}), finding.ByHand(finding.RestoreHere).For(m.Unit),
		}
	case !leaves:
		there := r
		there.GivenUp, there.Force = nil, false
		f.Remedies = []finding.Remedy{finding.Do(s.plans(there, m.Unit))}
	}
	if !m.Answers && (!c.HasRaftLeader || r.givesUp(m)) {
		r.Force = true
		f.Remedies = append(f.Remedies, s.without(r, s.Unit, m.Unit))
	}
	return f
}

func (c Copy) end() string { return fmt.Sprintf("term %d, index %d", c.Term, c.Index) }

// copies returns a statement about each copy. The newest one is marked only if all are known.
func (s State) copies(r Request) (all []finding.Statement) {
	judged, newest := s.inOrder(), s.newest()
	for _, m := range judged {
		c, known := s.copyOf(m.Unit), s.says(finding.CopyEnds, finding.Args{})
		known.Name = strings.TrimSuffix(m.name(), ",")
		led := c != nil && c.HasRaftLeader && m.Unit != s.Unit
		switch {
		case c == nil && m.Answers:
			known.Line = finding.CopyUnreported
		case c == nil:
			known.Line = finding.CopyUnknown
		case led && m.Answers:
			known.Line = finding.CopyLed
		case led:
			known.Line = finding.CopyLastLed
		default:
			known.Args.Value = c.end()
			known.More = s.about(m, *c, newest)
		}
		if r.givesUp(m) {
			known.More = append(known.More, finding.AddGivenUp)
		}
		all = append(all, known)
	}
	return all
}

// newest returns the newest of all copies; nil if one is unknown.
func (s State) newest() *Copy {
	newest := s.Own
	for _, m := range s.inOrder() {
		c := s.copyOf(m.Unit)
		if c == nil || c.HasRaftLeader && m.Unit != s.Unit {
			return nil
		}
		if c.newer(*newest) {
			newest = c
		}
	}
	return newest
}

// about returns the additions to the statement about a member's copy.
func (s State) about(m Member, c Copy, newest *Copy) (more []finding.Line) {
	if newest != nil && !newest.newer(c) {
		more = append(more, finding.AddNewest)
	}
	if m.Unit != s.Unit && !m.Answers && !c.Stopped {
		more = append(more, finding.AddLastReported)
	}
	if c.Damage != "" {
		more = append(more, finding.AddDamaged)
	}
	return more
}

// forced returns statements about the data that is lost because the units that have it are given up by force.
func (s State) forced(r Request) (all []finding.Statement) {
	for _, m := range s.inOrder() {
		c := s.copyOf(m.Unit)
		if c == nil || m.Unit == s.Unit || !r.Force || !r.givesUp(m) || !c.HasRaftLeader && !c.newer(*s.Own) {
			continue
		}
		lost := s.says(finding.GivenUpWithMore, finding.Args{Value: s.Own.end(), Other: c.end()})
		if c.HasRaftLeader {
			lost.Line = finding.GivenUpWithALead
		}
		lost.Name = m.name()
		all = append(all, lost)
	}
	return all
}

// givesUp reports whether the request names the unit, or one of its members.
func (s State) givesUp(r Request, unit string) bool {
	return slices.Contains(r.GivenUp, unit) || slices.ContainsFunc(s.Members,
		func(m Member) bool { return m.Unit == unit && r.givesUp(m) })
}

// Progress describes the progress of each unfinished recovery or restore of the database.
func (s State) Progress() (said []finding.Statement) {
	all := s.standing()
	accepted, _, is := s.accepted(all)
	for _, unit := range slices.Sorted(maps.Keys(all)) {
		r := all[unit]
		one := s.says(finding.RecoverAsked, finding.Args{
			Unit: unit, Time: r.Asked, Path: r.Backup, Units: r.GivenUp,
			Cluster: r.New.Brief(),
		})
		if r.Backup != "" {
			one.Line = finding.RestoreAsked
		}
		if len(r.GivenUp) > 0 {
			one.More = append(one.More, finding.AddGivesUp)
		}
		if !is || accepted != unit {
			one.More = append(one.More, finding.AddUnaccepted)
		}
		if r.New != "" {
			one.More = append(one.More, finding.AddMade)
		}
		said = append(said, one)
	}
	return said
}

// Answer is the answer of another unit's server about the cluster that it serves.
type Answer struct {
	// Address is the address of the server.
	Address string
	// Cluster is the cluster that it serves; empty if unknown.
	Cluster raft.ID
	// Supersedes are the clusters that the served cluster has replaced.
	Supersedes []raft.ID
}

// Superseded returns why a server of the cluster own must not be started: another unit's server serves a cluster that
// has replaced it. It is the zero value if no answer reports that. Answers of the cluster own itself don't count: no
// cluster replaces itself.
func Superseded(own raft.ID, answers []Answer) finding.Statement {
	for _, a := range answers {
		if own != "" && a.Cluster != own && slices.Contains(a.Supersedes, own) {
			return finding.Statement{Line: finding.ClusterReplaced, Args: finding.Args{Address: a.Address, Cluster: own.Brief()}}
		}
	}
	return finding.Statement{}
}
