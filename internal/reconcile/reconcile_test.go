package reconcile

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/steps"
)

func TestUnitHasSettledOnlyOnceNothingStandsOpen(t *testing.T) {
	t.Parallel()
	used := func() *plan.Certificate {
		return &plan.Certificate{Fingerprint: "a", Issuer: "x", Trusts: []string{"x"}}
	}
	issued := func(o *Result, change func(*plan.Certificate)) {
		c := used()
		change(c)
		o.State.Certificates.Issued = c
	}
	found := func(o *Result, code finding.Code) {
		o.Decision.Findings = []finding.Finding{finding.New(code, finding.Subject{}, finding.Args{})}
	}
	for name, tt := range map[string]struct {
		change func(*Result)
		want   bool
	}{
		"nothing was asked of the provider": {func(*Result) {}, true},
		"what was issued is used":           {func(o *Result) { issued(o, func(*plan.Certificate) {}) }, true},
		"a warning":                         {func(o *Result) { found(o, finding.CertificateExpires) }, true},

		"a step":                       {func(o *Result) { o.Decision.Step = &plan.Step{} }, false},
		"a failure":                    {func(o *Result) { o.Failure = errors.New("x") }, false},
		"no client port":               {func(o *Result) { o.Decision.Ready = false }, false},
		"blocked":                      {func(o *Result) { found(o, finding.CertificateUnusable) }, false},
		"waiting":                      {func(o *Result) { found(o, finding.CertificatesAwaited) }, false},
		"a new one, for its turn":      {func(o *Result) { issued(o, func(c *plan.Certificate) { c.Fingerprint = "b" }) }, false},
		"one that can't be read":       {func(o *Result) { o.State.Certificates.Issued = &plan.Certificate{Problem: "it can't be read"} }, false},
		"a new CA":                     {func(o *Result) { issued(o, func(c *plan.Certificate) { c.Trusts = []string{"x", "y"} }) }, false},
		"an old CA, for another unit":  {func(o *Result) { issued(o, func(c *plan.Certificate) { c.Trusts = nil }) }, false},
		"issued, and none on the disk": {func(o *Result) { issued(o, func(*plan.Certificate) {}); o.State.Certificates.Used = nil }, false},
		"one that lacks an address": {func(o *Result) {
			o.State.Certificates.Related, o.State.Certificates.Used.Lacks = true, "certificate is for a, this unit is b"
		}, false},
	} {
		o := Result{Decision: plan.Decision{Ready: true}, Snapshot: steps.Snapshot{State: plan.State{Certificates: plan.Certificates{Used: used()}}}}
		tt.change(&o)
		assert.Equal(t, tt.want, o.settled(), name)
	}
}
