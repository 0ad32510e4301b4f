package action

import (
	"context"
	"fmt"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/membership"
	"github.com/ovn-central/ovn-central-operator/internal/render"
)

// clusterStatus shows both clusters with the units of their members.
func clusterStatus(ctx context.Context, u Unit, p params) (results, error) {
	format, err := p.text("format")
	if err != nil {
		return nil, err
	}
	show, err := formatter(format)
	if err != nil {
		return nil, err
	}
	_, report := u.Service.LookAround(ctx, u.Tools)
	northds, missing := u.Service.Northds(ctx, report.Model)
	found := results{"fault-tolerance": lines(report.Tolerance()), "northd": lines(northds)}
	for _, c := range report.Clusters {
		if found["ovn"+c.Database.Short()], err = show(c); err != nil {
			return nil, err
		}
	}
	if warnings := append(report.Warnings(), missing...); len(warnings) > 0 {
		found["warnings"] = lines(warnings)
	}
	if next := u.Service.Next(report); len(next) > 0 {
		found["next"] = lines(next)
	}
	return found, nil
}

// lines is a result of whole lines. With the last one ended, Juju's client prints
// them as they are; else it would fold them, and a folded command can't be pasted.
func lines(all []string) string { return strings.Join(all, "\n") + "\n" }

func formatter(format string) (func(membership.Cluster) (string, error), error) {
	switch format {
	case "", "text":
		return func(c membership.Cluster) (string, error) { return c.Text(), nil }, nil
	case "yaml":
		return func(c membership.Cluster) (string, error) { return render.YAML(document(c)) }, nil
	case "json":
		return func(c membership.Cluster) (string, error) { return render.JSON(document(c)) }, nil
	}
	return nil, fmt.Errorf("parameter format is %q: it takes text, yaml or json", format)
}
