package plan

import (
	"fmt"
	"maps"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/unitname"
)

func (v *view) findFullDisk() finding.Finding {
	return v.find(finding.DiskFull, finding.Args{Value: v.Disk}, finding.ByHand(finding.MakeSpaceThere))
}

func (v *view) findPaused() finding.Finding {
	return v.find(finding.Paused, finding.Args{}, finding.Do(v.action("resume")))
}

func (v *view) findNoAddress() finding.Finding {
	return v.find(finding.AddressUnknown, finding.Args{},
		finding.Do(command.Client("exec", "--unit", v.Unit, "network-get ovsdb-peer")))
}

// maxTarget limits the shown part of a target, in characters: any client of the database may have written it.
const maxTarget = 60

// findExposed are the listeners without TLS.
func (v *view) findExposed() (all []finding.Finding) {
	for _, l := range v.x.WithoutTLS {
		remove := command.OnMachine(v.Unit, "sudo", "ovn-"+v.db.Short()+"ctl", "--no-leader-only",
			"remove", v.db.GlobalTable(), ".", "connections", l.UUID)
		args := finding.Args{Value: fmt.Sprintf("%.*q", maxTarget, l.Target)}
		all = append(all, v.find(finding.ListenerWithoutTLS, args, finding.Do(remove)))
	}
	return all
}

// findOptions are the invalid options. The charm uses the defaults of those that only change the presentation.
func (v *view) findOptions() (all []finding.Finding) {
	for _, option := range slices.Sorted(maps.Keys(v.Invalid)) {
		f := finding.New(finding.OptionInvalid, finding.Subject{Name: option}, finding.Args{Value: v.Invalid[option]},
			finding.Do(command.Client("config", unitname.Application(v.Unit), "--reset", option)))
		if slices.Contains([]string{OptionExporter, OptionStatusFormat, OptionNagiosContext, OptionNagiosServiceGroups},
			option) {
			f = f.As(finding.Warning)
		}
		all = append(all, f)
	}
	return all
}

// findDeferred names the services whose restarts are deferred.
func (v *view) findDeferred() finding.Finding {
	return v.find(finding.RestartsHeld, finding.Args{Detail: "Services queued for restart: " + v.queued()},
		finding.Do(v.action("restart-services", command.Param{Key: "deferred-only", Value: "true"})))
}

func (v *view) restartNext() Step {
	for _, service := range RestartOrder() {
		if reason := v.Pending[service]; reason != "" {
			return Step{Kind: Restart, Service: service, Reason: reason}
		}
	}
	return Step{}
}

func startOne(service ovndb.Service, why string) func(*view) Step {
	return func(*view) Step { return Step{Kind: Start, Services: []ovndb.Service{service}, Reason: why} }
}
