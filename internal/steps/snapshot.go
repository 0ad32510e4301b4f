package steps

import (
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/apt"
	"github.com/ovn-central/ovn-central-operator/internal/firewall"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
)

// Snapshot is the state of Juju and the machine. A step does not change it: the unit is observed again after the step.
type Snapshot struct {
	observe.Snapshot
	Report    observe.Report
	Addresses observe.Addresses
	// Known is the part of a decision's input that needs no look at the machine; State is the whole input.
	Known, State plan.State
	// Clients are the relations to applications that use the databases. They are known only if Thorough is set.
	Clients []observe.Client
	// Thorough makes Juju answer everything. Looks is set if the state is only shown, Preview if no step is made.
	Thorough, Looks, Preview bool
}

// Usable reports whether all options are valid.
func (o Snapshot) Usable(options ...string) bool {
	return !slices.ContainsFunc(options, func(option string) bool { return o.Known.Invalid[option] != "" })
}

// Packages returns the input of the packages' manager.
func (o Snapshot) Packages() apt.Snapshot {
	settings := o.Known.Settings
	s := apt.Snapshot{
		Source: settings.Source, Overlay: settings.Overlay, Sources: settings.AllSources(), Thorough: o.Thorough,
	}
	if o.Usable(plan.OptionAutoRestarts) {
		s.AutoRestarts = &settings.AutoRestarts
	}
	return s
}

func (o Snapshot) firewall() firewall.Snapshot {
	s := firewall.Snapshot{Thorough: o.Thorough, Own: o.Addresses.Own}
	s.Peers = slices.Concat(o.Application.PeerAddresses(), o.MemberAddresses())
	for _, c := range o.Clients {
		s.Clients = append(s.Clients, c.Addresses...)
	}
	return s
}

// raftAddress is the Raft address of a new server of this unit.
func (o Snapshot) raftAddress(db ovndb.Database) string {
	return ovndb.RaftAddress(db, o.Addresses.Own.String())
}
