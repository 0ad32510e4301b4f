package reconcile

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/steps"
)

func TestResult_settled(t *testing.T) {
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
		"no request":     {func(*Result) {}, true},
		"issued is used": {func(o *Result) { issued(o, func(*plan.Certificate) {}) }, true},
		"warning":        {func(o *Result) { found(o, finding.CertificateExpires) }, true},

		"step":                {func(o *Result) { o.Decision.Step = &plan.Step{} }, false},
		"failure":             {func(o *Result) { o.Failure = errors.New("x") }, false},
		"client ports closed": {func(o *Result) { o.Decision.Ready = false }, false},
		"error":               {func(o *Result) { found(o, finding.CertificateUnusable) }, false},
		"waiting":             {func(o *Result) { found(o, finding.CertificatesAwaited) }, false},
		"new certificate":     {func(o *Result) { issued(o, func(c *plan.Certificate) { c.Fingerprint = "b" }) }, false},
		"issued unreadable": {
			func(o *Result) { o.State.Certificates.Issued = &plan.Certificate{Problem: "unreadable"} }, false,
		},
		"new CA": {
			func(o *Result) { issued(o, func(c *plan.Certificate) { c.Trusts = []string{"x", "y"} }) }, false,
		},
		"old CA": {func(o *Result) { issued(o, func(c *plan.Certificate) { c.Trusts = nil }) }, false},
		"issued, none used": {
			func(o *Result) { issued(o, func(*plan.Certificate) {}); o.State.Certificates.Used = nil }, false,
		},
		"address missing": {func(o *Result) {
			o.State.Certificates.Related, o.State.Certificates.Used.Lacks = true, "a"
		}, false},
	} {
		o := Result{Decision: plan.Decision{Ready: true}, Snapshot: steps.Snapshot{}}
		o.State.Certificates.Used = used()
		tt.change(&o)
		assert.Equal(t, tt.want, o.settled(), name)
	}
}
