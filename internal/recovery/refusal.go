package recovery

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// lack is what is missing to do without a unit.
type lack string

const (
	// notReported: it has not published how far its copy goes.
	notReported lack = "not reported"
	// mayReturn: nothing shows that its server stays off.
	mayReturn lack = "may return"
	// damaged: what its copy had is not known.
	damaged lack = "damaged"
)

// Refusal is one reason why a request can't be done, for one database or more.
type Refusal struct {
	Databases []ovndb.Database
	// GiveUp are the units, and the IDs of members whose unit is not known, that the request does without once it
	// gives them up. It is empty if that does not help.
	GiveUp []string
	lack   lack
	// names are those of GiveUp for people.
	names []string
	text  string
}

// String is the reason in one line, with its databases.
func (r Refusal) String() string {
	databases := make([]string, len(r.Databases))
	for i, db := range r.Databases {
		databases[i] = db.Short()
	}
	return strings.Join(databases, ", ") + ": " + r.reason()
}

func (r Refusal) reason() string {
	named, many := List(r.names), len(r.names) > 1
	switch {
	case r.lack == notReported && many:
		return named + " have not reported how far their copies go: " +
			"start them, then the quorum is back or their next update-status reports it"
	case r.lack == notReported:
		return named + " has not reported how far its copy goes: " +
			"start it, then the quorum is back or its next update-status reports it"
	case r.lack == mayReturn && many:
		return named + " may come back: nothing shows that their servers stay off"
	case r.lack == mayReturn:
		return named + " may come back: nothing shows that its server stays off"
	}
	return r.text
}

// alone is the reason where no command follows that gives up what is in the way.
func (r Refusal) alone() string {
	switch {
	case len(r.GiveUp) == 0:
		return r.String()
	case len(r.GiveUp) > 1:
		return r.String() + "; if they are lost for good, power off their machines, and add them to give-up="
	}
	return r.String() + "; if it is lost for good, power off its machine, and add it to give-up="
}

// List is a list of names as in a sentence: `a, b and c`.
func List(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// Once has each reason once, with all its databases, in the order in which they came.
func Once(all []Refusal) (once []Refusal) {
	for _, r := range all {
		i := slices.IndexFunc(once, func(o Refusal) bool { return o.reason() == r.reason() })
		if i < 0 {
			once = append(once, r)
			continue
		}
		once[i].Databases = slices.Concat(once[i].Databases, r.Databases)
	}
	return once
}

// refuse adds a reason that no give-up ends.
func (v *Verdict) refuse(db ovndb.Database, format string, args ...any) {
	v.Refusals = append(v.Refusals, Refusal{Databases: []ovndb.Database{db}, text: fmt.Sprintf(format, args...)})
}

// lacks adds a member that the request can't do without until it gives it up.
func (v *Verdict) lacks(db ovndb.Database, l lack, m Member, text string) {
	giveUp := m.Unit
	if giveUp == "" {
		giveUp = string(m.ID)
	}
	same := func(o Refusal) bool { return l != damaged && o.lack == l }
	if i := slices.IndexFunc(v.Refusals, same); i >= 0 {
		v.Refusals[i].GiveUp = append(v.Refusals[i].GiveUp, giveUp)
		v.Refusals[i].names = append(v.Refusals[i].names, m.name())
		return
	}
	v.Refusals = append(v.Refusals, Refusal{
		Databases: []ovndb.Database{db}, GiveUp: []string{giveUp}, lack: l, names: []string{m.name()}, text: text,
	})
}
