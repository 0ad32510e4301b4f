package plan

import (
	"maps"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/unitname"
)

// fileArgs are args, with the file and its service.
func (x Database) fileArgs(db ovndb.Database, args finding.Args) finding.Args {
	args.Path, args.Service = x.File.Path, string(ovndb.ServiceOf(db))
	return args
}

// findStandalone adds what to do with a standalone database.
func (x Database) findStandalone(d *Decision, db ovndb.Database) {
	d.findIn(db, finding.DatabaseStandalone, x.fileArgs(db, finding.Args{}), finding.ByHand(finding.MoveAway))
}

// findUnserved adds why a server is unknown.
func (x Database) findUnserved(d *Decision, db ovndb.Database) {
	code := finding.ServerUnreadable
	if x.FileUnknown {
		code = finding.FileUnreadable
	}
	d.findIn(db, code, x.fileArgs(db, finding.Args{Detail: x.Text}))
}

// findOptions adds the invalid options. The charm uses the defaults of those that only change the presentation.
func (s State) findOptions(d *Decision) {
	for _, option := range slices.Sorted(maps.Keys(s.Invalid)) {
		f := finding.New(finding.OptionInvalid, finding.Subject{Name: option}, finding.Args{Value: s.Invalid[option]},
			finding.Do(command.Client("config", unitname.Application(s.Unit), "--reset", option)))
		if option == OptionExporter || option == OptionStatusFormat {
			f = f.As(finding.Warning)
		}
		d.Findings = append(d.Findings, f)
	}
}
