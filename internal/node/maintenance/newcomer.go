package maintenance

import (
	"maps"

	"github.com/ovn-central/ovn-central-operator/internal/gateway/cordon"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// admitKey is a key of external_ids of NB_Global, which exists while new chassis are cordoned. Chassis that could host
// gateways when it was written are not new.
const admitKey = "ovn-central:cordon-new-chassis"

// Admission is the change that records the chassis without a record of a cordon: known ones as not cordoned, new ones
// as cordoned.
type Admission struct {
	Change
	// New lists the chassis that the change cordons.
	New []string
	// Lacks has the pairs that external_ids must lack when the change is made: an operator may have cordoned a chassis
	// since.
	Lacks map[string]string
}

// Empty reports whether there is nothing to record.
func (a Admission) Empty() bool { return len(a.Set)+len(a.Drop) == 0 }

// Admit returns the change that cordons the chassis that can host gateways for the first time, with the note n. It
// decides by NB alone, since each host writes its own row of SB. If cordons is false, the change ends the cordoning of
// new chassis; chassis that are cordoned stay cordoned.
func Admit(ids map[string]string, s schedule.State, cordons bool, n Note) Admission {
	_, begun := ids[admitKey]
	switch {
	case !cordons && begun:
		return Admission{Change: Change{Drop: []string{admitKey}}}
	case !cordons:
		return Admission{}
	}
	a := Admission{Change: Change{Set: map[string]string{}}, Lacks: map[string]string{}}
	candidates, mayHost := map[string]bool{}, s.MayHost()
	for _, g := range s.Groups {
		for _, c := range g.Candidates {
			candidates[c.Chassis] = true
		}
	}
	for _, c := range s.Chassis {
		key := cordon.Key + c.Name
		if _, recorded := ids[key]; recorded || !mayHost[c.Name] {
			continue
		}
		a.Lacks[key] = cordon.On
		if !begun || candidates[c.Name] {
			a.Set[key] = cordon.Off
			continue
		}
		a.New = append(a.New, c.Name)
		n.Hostname = c.Hostname
		maps.Copy(a.Set, CordonHosting(c.Name, n, nil).Set)
	}
	if !begun || !a.Empty() {
		a.Set[admitKey] = "true"
	}
	return a
}
