package recovery

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// finds is a finding about the database, and about what name names.
func (s State) finds(code finding.Code, name string, args finding.Args, remedies ...finding.Remedy) finding.Finding {
	f := finding.Of(code, s.Database, args, remedies...)
	f.Subject.Name = name
	return f
}

// Command is the command that asks for the request on a unit, for one database or, if there are more or none, for all.
// The flags are parameters that are true.
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

// plans is the command that plans the request on a unit. A recovery is of all databases that have no leader there, so
// that one command is right for both.
func (s State) plans(r Request, unit string) command.Command {
	if r.Backup == "" {
		return r.Command(unit, nil, dryRun)
	}
	return r.Command(unit, []ovndb.Database{s.Database}, dryRun)
}

const dryRun = "dry-run"

// Without is a command that gives up units, under the condition that they are lost.
func Without(c command.Command, units ...string) finding.Remedy {
	return finding.If(finding.IfOff, c).For(strings.Join(units, ", "))
}

// without is the way out if units are lost: the request of the unit asked, which gives them up besides.
func (s State) without(r Request, asked string, units ...string) finding.Remedy {
	return Without(s.plans(r.Repeated(units, false), asked), units...)
}

// instead is the way out if a unit is lost that was asked: a recovery here. The backup of a restore is on its machine.
func (s State) instead(r Request, asked string) (remedies []finding.Remedy) {
	if asked == s.Unit {
		return nil
	}
	r.Backup, r.GivenUp = "", slices.DeleteFunc(slices.Clone(r.GivenUp), func(name string) bool {
		return s.givesUp(Request{GivenUp: []string{name}}, s.Unit)
	})
	return []finding.Remedy{s.without(r, s.Unit, asked)}
}

// lacks adds a member that the request can't do without until it gives it up. One finding names all of the same code.
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

// Lacking are the units, and the IDs of members whose unit is not known, without which a request can be made only if it
// gives them up. There are none if giving up does not help.
func Lacking(refusal finding.Finding) []string { return refusal.Args.Units }

// withWays adds to what is lacking the ways out: starting it, and the command that gives up all of it.
func (v *Verdict) withWays(again func(units []string) finding.Remedy) {
	var all []string
	for _, f := range v.Refusals {
		all = append(all, Lacking(f)...)
	}
	for i, f := range v.Refusals {
		if len(Lacking(f)) > 0 {
			v.Refusals[i].Remedies = Ways(f, again(all))
		}
	}
}

// Ways are the ways out of what is lacking, the last of which is the command that does without it.
func Ways(lacking finding.Finding, without finding.Remedy) []finding.Remedy {
	if lacking.Code == finding.RecoveryNotReported {
		return []finding.Remedy{finding.ByHand(finding.StartMachine).For(strings.Join(Lacking(lacking), ", ")), without}
	}
	return []finding.Remedy{without}
}

// ahead returns why the recovery can't be made here of a unit that had newer data, or a leader,
// when it was last heard. One that is lost can't take that back, so there is a way past it; of a leader it is printed
// only to an operator who gives that unit up.
func (s State) ahead(r Request, m Member, c Copy) finding.Finding {
	f := s.finds(finding.RecoveryHasQuorum, m.Unit, finding.Args{})
	if !c.HasRaftLeader {
		f = s.finds(finding.RecoveryNewerData, m.Unit, finding.Args{Detail: fmt.Sprintf("%s; this unit's end with %s",
			c.end(), s.Own.end())})
	}
	switch leaves := s.dying(m.Unit); {
	case c.HasRaftLeader:
	case leaves && m.Answers: // it makes no new cluster
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
