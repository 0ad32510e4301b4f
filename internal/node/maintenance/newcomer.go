package maintenance

import (
	"maps"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/gateway/cordon"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// admitKey is a key of external_ids of NB_Global, which exists while new chassis are cordoned. Chassis that could host
// gateways when it was written are not new.
const admitKey = "ovn-central:cordon-new-chassis"

// NewChassis is the reason for the cordon of a chassis that can host gateways for the first time.
const NewChassis = "new: uncordon it once you know it"

// Admission has the changes to the record of chassis that have no record of a cordon.
type Admission struct {
	// Begin reports whether new chassis were not cordoned until now.
	Begin bool
	// Known lists the chassis that may host gateways; New lists those that will be cordoned.
	Known []string
	New   []schedule.Chassis
}

// Empty reports whether there is nothing to record.
func (a Admission) Empty() bool { return !a.Begin && len(a.Known)+len(a.New) == 0 }

// Admit finds the chassis that can host gateways for the first time. It decides by NB alone, since each host writes its
// own row of SB.
func Admit(ids map[string]string, s schedule.State) (a Admission) {
	_, begun := ids[admitKey]
	a.Begin = !begun
	candidates, mayHost := map[string]bool{}, s.MayHost()
	for _, g := range s.Groups {
		for _, c := range g.Candidates {
			candidates[c.Chassis] = true
		}
	}
	for _, c := range s.Chassis {
		_, recorded := ids[cordon.Key+c.Name]
		switch {
		case !mayHost[c.Name] || recorded:
		case !begun || candidates[c.Name]:
			a.Known = append(a.Known, c.Name)
		default:
			a.New = append(a.New, c)
		}
	}
	slices.Sort(a.Known)
	return a
}

// Change returns the change that records a; note makes the note for the cordon of each new chassis.
func (a Admission) Change(note func(schedule.Chassis) Note) Change {
	c := Change{Set: map[string]string{admitKey: "true"}}
	for _, chassis := range a.Known {
		c.Set[cordon.Key+chassis] = cordon.Off
	}
	for _, chassis := range a.New {
		maps.Copy(c.Set, CordonHosting(chassis.Name, note(chassis), nil).Set)
	}
	return c
}

// Lacks returns the pairs that external_ids must lack when the change is made: an operator may have cordoned a chassis
// since.
func (a Admission) Lacks() map[string]string {
	pairs := map[string]string{}
	for _, chassis := range a.Known {
		pairs[cordon.Key+chassis] = cordon.On
	}
	for _, chassis := range a.New {
		pairs[cordon.Key+chassis.Name] = cordon.On
	}
	return pairs
}

// EndAdmission returns the change that ends the cordoning of new chassis. ok is false if new chassis are not being
// cordoned.
func EndAdmission(ids map[string]string) (c Change, ok bool) {
	_, ok = ids[admitKey]
	return Change{Drop: []string{admitKey}}, ok
}
