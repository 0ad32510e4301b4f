package plan

import (
	"fmt"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/unitname"
)

func (s State) activeElsewhere() bool {
	return s.Northds.Found == NorthdActive && s.Northds.Unit != s.Unit
}

func (s State) release() finding.Remedy { return finding.Do(s.action("release-northd")) }

// findNoNorthd is an error only once no other has taken over in time.
func (v *view) findNoNorthd(detail string, remedies ...finding.Remedy) finding.Finding {
	f := v.find(finding.NorthdNoneActive, finding.Args{Detail: detail}, remedies...)
	if v.Northds.Proved(v.Settings.InactivityProbe) {
		f = f.As(finding.Error)
	}
	return f
}

// findNoneActive names the unit whose ovn-northd hangs, if its report says so. Otherwise another one takes over by
// itself, unless that took too long.
func (v *view) findNoneActive() finding.Finding {
	switch probe, hangs := v.Settings.InactivityProbe, v.Northds.Hangs; {
	case hangs != "":
		return v.findNoNorthd(hangs+"'s hangs", finding.If(finding.IfThisLasts, RestartOn(hangs, ovndb.Northd)))
	case v.Northds.Proved(probe):
		return v.findNoNorthd("", finding.Remedy{When: finding.IfThisLasts, Deed: finding.RestartNorthd})
	default:
		return v.findNoNorthd(fmt.Sprintf("another one takes over by %s UTC",
			v.Northds.Since.Add(takeoverTime(probe)).UTC().Format(time.TimeOnly)))
	}
}

func (v *view) findHungNorthd(detail string) finding.Finding {
	return v.find(finding.NorthdHangs, finding.Args{Detail: detail}, finding.Do(RestartOn(v.Unit, ovndb.Northd)))
}

func (v *view) findNorthdDown() finding.Finding {
	if v.activeElsewhere() {
		return v.find(finding.NorthdDown, finding.Args{})
	}
	return v.find(finding.NorthdNoneActive, finding.Args{Detail: "this unit's is not running"})
}

func (v *view) findPausedNorthd() finding.Finding {
	return v.find(finding.NorthdPaused, finding.Args{},
		finding.Do(command.OnMachine(v.Unit, "sudo", "ovn-appctl", "-t", "ovn-northd", "resume"))).As(finding.Error)
}

func (v *view) findProbeOff() finding.Finding {
	return v.find(finding.NorthdProbeOff, finding.Args{},
		finding.Do(command.Client("config", unitname.Application(v.Unit), OptionInactivityProbe+"=60")))
}
