package reconcile

import (
	"bytes"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/agent/report"
	"github.com/ovn-central/ovn-central-operator/internal/apt"
	"github.com/ovn-central/ovn-central-operator/internal/facts"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/jujuleader"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/observe/observetest"
	"github.com/ovn-central/ovn-central-operator/internal/operate"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
	"github.com/ovn-central/ovn-central-operator/internal/run/runtest"
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
			func(o *Result) { o.State.Certificates.Issued = &plan.Certificate{Problem: finding.Quote("unreadable")} }, false,
		},
		"new CA": {func(o *Result) { issued(o, func(c *plan.Certificate) { c.Trusts = []string{"x", "y"} }) }, false},
		"old CA": {func(o *Result) { issued(o, func(c *plan.Certificate) { c.Trusts = nil }) }, false},
		"issued, none used": {
			func(o *Result) { issued(o, func(*plan.Certificate) {}); o.State.Certificates.Used = nil }, false,
		},
		"address missing": {func(o *Result) {
			o.State.Certificates.Related, o.State.Certificates.Used.Lacks = true, finding.Quote("a")
		}, false},
	} {
		o := Result{Facts: facts.Facts{Decision: plan.Decision{Ready: true}}}
		o.State.Certificates.Used = used()
		tt.change(&o)
		assert.Equal(t, tt.want, o.settled(), name)
	}
}

// dpkg was killed after it had unpacked a version. That version does not run yet, and finishing the upgrade restarts
// nothing.
func TestAdopt_interrupted_upgrade_restarts_northd(t *testing.T) {
	t.Parallel()
	dpkg := func(output string) runtest.Call {
		const format = `--showformat=${Package} ${db:Status-Status} ${Version}\n`
		return runtest.Expect("dpkg-query", "--show", format, "ovn-central", "openvswitch-common").Writes(output)
	}
	check := runtest.Expect("apt-get", "--quiet", "check")
	const half, whole = "ovn-central half-configured 25.03\n", "ovn-central installed 25.03\n"
	for name, c := range map[string]struct {
		calls []runtest.Call
		want  []ovndb.Service
	}{
		"dpkg was killed":             {[]runtest.Call{dpkg(half), check, dpkg(half)}, []ovndb.Service{ovndb.Northd}},
		"finished by another process": {[]runtest.Call{dpkg(half), check, dpkg(whole)}, nil},
		"installed":                   {[]runtest.Call{dpkg(whole)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := &Reconciler{
				Observer: &observe.Observer{Machine: &observe.Machine{
					Env: juju.Env{HookName: "upgrade-charm"}, Log: slog.New(slog.DiscardHandler),
					Control: ovsctl.Control{Paths: ovndb.Paths{DB: t.TempDir()}},
				}},
				Packages: apt.Packages{Runner: runtest.New(t, c.calls...)},
			}
			r, err := u.loadRecord()
			require.NoError(t, err)
			require.NoError(t, u.adopt(t.Context(), r, plan.Settings{}))
			assert.True(t, r.Packages.Adopted())
			pending, err := r.Restarts.Pending(ovndb.Version{OVN: "25.03"})
			require.NoError(t, err)
			assert.Equal(t, c.want, slices.Collect(maps.Keys(pending)))
		})
	}
}

// The findings that a hook reports beside those of its decision.
func TestFound(t *testing.T) {
	t.Parallel()
	refused := finding.Refuse([]finding.Finding{finding.Of(finding.NoLeader, ovndb.NB, finding.Args{})})
	for name, test := range map[string]struct {
		failure error
		code    finding.Code
	}{
		"step has failed":            {errors.New("no space left"), finding.StepFailed},
		"step is refused":            {refused, finding.StepPostponed},
		"another unit has its turn":  {jujuleader.ErrLater, finding.StepPostponed},
		"client ports do not answer": {nil, finding.ClientPortsClosed},
	} {
		all := (&Reconciler{Observer: &observe.Observer{Machine: new(observe.Machine)}}).found(Result{Failure: test.failure})
		assert.True(t, finding.Has(all, test.code), name)
	}
}

// A restore whose action was interrupted is carried out by the next hook. An action that only looks shows it.
func TestFound_pending_restore(t *testing.T) {
	t.Parallel()
	o := Result{Facts: facts.Facts{State: plan.State{Recovery: map[ovndb.Database]recovery.State{ovndb.SB: {
		Database: ovndb.SB, Unit: "u/0", JujuLeader: true, Cluster: "c1", Own: &recovery.Copy{Cluster: "c1"},
		Request: &recovery.Request{Cluster: "c1", Backup: "/b"},
	}}}}}
	u := &Reconciler{Observer: &observe.Observer{Machine: new(observe.Machine)}}
	assert.False(t, finding.Has(u.found(o), finding.RecoveryNotAccepted), "a hook accepts it")
	o.Preview = true
	assert.True(t, finding.Has(u.found(o), finding.RecoveryNotAccepted))
}

// A lost quorum needs no second recovery while the one that was requested here waits.
func TestFound_recovery_not_accepted(t *testing.T) {
	t.Parallel()
	s := observetest.Three(t)
	s.NB = observetest.Up("aa00").Down("aa01", "aa02").CutOff()
	o := Result{Facts: facts.Facts{Report: s.Report(), State: plan.State{Unit: s.Unit}}}
	o.Decision.Findings = []finding.Finding{finding.Of(finding.RecoveryNotAccepted, ovndb.NB, finding.Args{Unit: s.Unit})}
	for _, f := range (&Reconciler{Observer: &observe.Observer{Machine: new(observe.Machine)}}).found(o) {
		if f.Code == finding.NoQuorum {
			assert.Equal(t, []finding.Remedy{finding.ByHand(finding.AwaitAccept).For(s.Unit)}, f.Remedies)
			return
		}
	}
	assert.Fail(t, "the lost quorum is not reported")
}

func TestActing(t *testing.T) {
	t.Parallel()
	s := report.Status{Drains: []report.Drain{
		{Node: "compute-1", Done: true},
		{Node: "compute-2", Text: "12"},
		{Node: "compute-3", Text: "nova-compute 2, hold ovn-bgp-agent", Stalled: true},
		{Node: "compute-4", Text: "1"},
		{Node: "compute-5", Text: "1"},
	}}
	stalled, runs := acting(s)
	assert.Empty(t, stalled, "only the acting unit reports it")
	assert.Empty(t, runs)
	s.Acts = true
	stalled, runs = acting(s)
	require.Len(t, stalled, 1)
	assert.Equal(
		t, "warning DRAIN_STALLED compute-3 Value=nova-compute 2, hold ovn-bgp-agent", findingtest.Brief(stalled[0]),
	)
	require.Len(t, runs, 3)
	assert.Equal(t, []string{s.Drains[1].Line(), s.Drains[3].Line()}, runs[1:])
}

// recorded stores an operator's requests to the unit on the disk, and returns the record.
func recorded(t *testing.T, u *Reconciler, k kept) *record {
	t.Helper()
	r, err := u.loadRecord()
	require.NoError(t, err)
	r.kept = k
	require.NoError(t, u.saveRecord(r))
	return r
}

// A unit that was removed by force leaves its record on the machine. The next unit there is not paused because the
// former was, even if it has the same name in another model.
func TestRecord_of_other_unit_is_ignored(t *testing.T) {
	t.Parallel()
	paths, log := ovndb.Paths{DB: t.TempDir()}, new(bytes.Buffer)
	unit := func(name, model string) *Reconciler {
		machine := &observe.Machine{
			Env: juju.Env{Unit: name, ModelUUID: model}, Log: slog.New(slog.NewTextHandler(log, nil)),
			Control: ovsctl.Control{Paths: paths},
		}
		return &Reconciler{Observer: &observe.Observer{Machine: machine}}
	}
	load := func(u *Reconciler) *record {
		r, err := u.loadRecord()
		require.NoError(t, err)
		return r
	}
	former := unit("ovn-central/1", "m")
	recorded(t, former, kept{Known: true, Asked: operate.Asked{Paused: true}, Settled: true})
	assert.True(t, load(former).Paused, "its own record")
	assert.Empty(t, log.String())

	next := unit("ovn-central/5", "m")
	for _, other := range []*Reconciler{unit("ovn-central/1", "n"), next} {
		assert.Equal(t, kept{}, load(other).kept)
		assert.Contains(t, log.String(), "unit=ovn-central/1")
		log.Reset()
	}
	recorded(t, next, kept{Known: true})
	assert.Equal(t, "ovn-central/5", load(next).state.Owner().Unit)
	assert.Equal(t, kept{Known: true}, load(next).kept)
}
