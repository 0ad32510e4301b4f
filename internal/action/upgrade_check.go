package action

import (
	"cmp"
	"context"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/apt"
	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/machine"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// upgradeCheck shows what an upgrade would bring, and what to do first.
func upgradeCheck(ctx context.Context, u Unit, p *params) (results, error) {
	source := p.text("source")
	if err := p.err(); err != nil {
		return nil, err
	}
	found, err := u.checkUpgrade(ctx, source)
	if err != nil {
		return nil, err
	}
	text, err := rendered(p.format, found, document.Upgrade)
	return results{"upgrade": text}, err
}

// checkUpgrade returns what the packages of a source would bring; an empty source is the option's. It changes nothing.
func (u Unit) checkUpgrade(ctx context.Context, source string) (plan.UpgradeReport, error) {
	o, err := u.Plan(ctx)
	if err != nil {
		return plan.UpgradeReport{}, err
	}
	source = cmp.Or(source, o.State.Settings.Source, "distro")
	x := plan.UpgradeCandidate{
		Source: shownSources(source, o.State.Settings.Overlay), Typed: u.Env.Version.Render,
		Schemas: map[ovndb.Database]plan.UpgradeSchema{},
	}
	var sources []apt.Source
	for _, value := range []string{source, o.State.Settings.Overlay} {
		one, err := apt.ParseSource(value, u.OS)
		if err != nil {
			return plan.UpgradeReport{}, err
		}
		sources = append(sources, one)
	}
	offer, err := u.Packages.Preview(ctx, sources...)
	if x.Offered = offer.Version; err != nil {
		x.Unknown = strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	for _, db := range ovndb.Databases() {
		schema := plan.UpgradeSchema{Brought: offer.Schemas[db]}
		served, err := u.Files.Schemas(ctx, db)
		if schema.Served = served.Served; err != nil {
			u.Log.InfoContext(ctx, "cannot compare the schemas", "database", db.Short(), "error", err)
		} else if schema.Brought != "" {
			if schema.Newer, err = ovsctl.Newer(schema.Brought, schema.Served); err != nil {
				return plan.UpgradeReport{}, err
			}
		}
		x.Schemas[db] = schema
	}
	if x.Disk, err = machine.FreeSpace(u.Paths.DB); err != nil {
		return plan.UpgradeReport{}, err
	}
	x.Memory, _ = machine.AvailableMemory()
	return o.State.CheckUpgrade(x), nil
}

// shownSources names the sources of packages, without the passwords in them.
func shownSources(source, overlay string) string {
	if overlay != "" && overlay != "distro" {
		source += ", ovn-source " + overlay
	}
	return run.Redact(source)
}
