package plan

import (
	"cmp"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/unitname"
)

// certifies reports whether the unit uses certificates. Juju removes the relations of a unit that is being removed
// before the unit.
func (v *view) certifies() bool {
	return !v.Dying || (v.Packages.Installed || v.Packages.Interrupted()) && v.Address != ""
}

// expects reports whether a certificate can come through the relation.
func (v *view) expects() bool { return v.certifies() && v.Certificates.Related }

// rotates reports whether the unit starts to use the issued certificate, in steps that refuse no connection: first
// every unit trusts the new CA, then each uses its new certificate, then the old CA is dropped.
func (v *view) rotates() bool { return v.expects() && v.Certificates.Drifted() }

func (v *view) renewsCAs() bool {
	c := v.Certificates
	return v.rotates() && c.Used.usable() && c.Used.Fingerprint == c.Issued.Fingerprint
}

func (v *view) trustsTooFew() bool {
	c := v.Certificates
	return c.Used.usable() && missing(c.Issued.Trusts, c.Used.Trusts)
}

// stillUses returns the first unit whose certificate is of another CA; distrusts returns the first unit that does not
// trust the new CA.
func (s State) stillUses() string {
	return s.others(func(p Peer) bool { return p.Issuer == s.Certificates.Issued.Issuer })
}

func (s State) distrusts() string {
	return s.others(func(p Peer) bool { return len(p.Trusts) == 0 || p.trusts(s.Certificates.Issued.Issuer) })
}

func (v *view) usesUnusable() bool {
	c := v.Certificates
	return v.expects() && c.Used != nil && !c.Used.Problem.IsZero() && c.Issued == nil
}

func (v *view) certificateExpires() bool {
	used := v.Certificates.Used
	return v.certifies() && used.usable() && used.NotAfter.Before(v.Now.Add(expiryNotice))
}

func (v *view) findUnrelated() finding.Finding {
	return v.find(finding.CertificatesMissing, finding.Args{},
		finding.Do(command.Client(cmp.Or(v.Integrate, "integrate"), unitname.Application(v.Unit)+":certificates", "vault")))
}

// findNoCertificate returns a finding whose text begins like the Python charm's (states_to_check of its
// ovn_central.py): deployments wait for that text.
func (v *view) findNoCertificate() finding.Finding {
	from, to := cmp.Or(v.Certificates.Provider, finding.TheProvider), cmp.Or(v.Address, finding.ThisUnit)
	return v.find(finding.CertificatesAwaited, finding.Args{
		Reasons: []finding.Reason{{Code: finding.CertificateFor, Name: from, Value: to}},
	})
}

func (v *view) findUnfit(code finding.Code) finding.Finding {
	return v.find(code, v.Certificates.unfit().Args(), v.Certificates.reissue()...)
}

func (v *view) findChange(code finding.ReasonCode, unit string, lacks finding.Reason) finding.Finding {
	change := []finding.Reason{{Code: code, Name: unit}}
	return v.find(finding.CertificateChanges, finding.Args{Reasons: change, Detail: finding.Said(lacks.String())})
}

// others returns the first peer that is up and is unread or not well; empty if there is none. No unit waits for a
// peer that is down: it catches up when it returns.
func (s State) others(well func(Peer) bool) string {
	return s.firstPeer(func(p Peer) bool { return s.hears(p) && (p.Data.Unread() || !well(p)) })
}

// hears reports whether one of this unit's servers is connected to the peer's. A unit without servers can't know
// that, and assumes that every peer is up.
func (s State) hears(p Peer) bool {
	if s.Databases[ovndb.NB].Condition != ovndb.Serving && s.Databases[ovndb.SB].Condition != ovndb.Serving {
		return true
	}
	for db, id := range p.Servers {
		if x := s.Databases[db]; x.Condition == ovndb.Serving && x.Status.Hears(id.Short()) {
			return true
		}
	}
	return false
}

func missing(wanted, have []string) bool {
	return slices.ContainsFunc(wanted, func(w string) bool { return !slices.Contains(have, w) })
}

// certificateRules are about the unit's certificate.
var certificateRules = slices.Concat([]rule{
	{
		name: "certificates have no relation", in: staying, of: certificate,
		when: func(v *view) bool { return !v.Certificates.Related }, find: (*view).findUnrelated,
	},
}, given(certificate, (*view).expects, []rule{
	{
		name: "no certificate is issued", in: every,
		when: func(v *view) bool { return v.Certificates.Issued == nil && !v.Certificates.Used.usable() },
		find: (*view).findNoCertificate,
	},
	{
		name: "the only certificate is unusable", in: every, outranks: true,
		when: func(v *view) bool { return !v.Certificates.unfit().IsZero() && !v.Certificates.Used.usable() },
		find: func(v *view) finding.Finding { return v.findUnfit(finding.CertificateUnusable) },
	},
	{
		name: "new certificate is unusable", in: every, outranks: true,
		when: func(v *view) bool { return !v.Certificates.unfit().IsZero() },
		find: func(v *view) finding.Finding { return v.findUnfit(finding.CertificateNewUnusable) },
	},
}), given(certificate, (*view).rotates, []rule{
	{
		name: "this unit has no certificate that can be used", in: every,
		when: func(v *view) bool { return !v.Certificates.Used.usable() }, step: because(InstallCertificate),
	},
	{
		name: "the CA's own certificates have changed", in: every,
		when: func(v *view) bool { return v.renewsCAs() && v.trustsTooFew() }, step: because(TrustCA),
	},
	{
		name: "the CA is new", in: every, when: func(v *view) bool { return !v.renewsCAs() && v.trustsTooFew() },
		step: because(TrustCA),
	},
	{
		name: "every unit uses the new CA", in: every, outranks: true,
		when: func(v *view) bool { return v.renewsCAs() && v.stillUses() == "" }, step: because(DropCAs),
	},
	{
		name: "a unit uses the old CA", in: every, outranks: true, when: (*view).renewsCAs,
		find: func(v *view) finding.Finding {
			return v.findChange(finding.OldCAKept, v.stillUses(), finding.Reason{})
		},
	},
	{
		name: "the certificate was issued again", in: every, outranks: true,
		when: func(v *view) bool { return v.distrusts() == "" }, step: because(InstallCertificate),
	},
	{
		name: "a unit does not trust the new CA", in: every,
		find: func(v *view) finding.Finding {
			return v.findChange(finding.CADistrusted, v.distrusts(), finding.Reason{})
		},
	},
}), []rule{
	{name: "certificate in use is unusable", in: every, when: (*view).usesUnusable, find: func(v *view) finding.Finding {
		return v.find(finding.CertificateUnusable, v.Certificates.Used.Problem.Args(),
			v.Certificates.reissue()...)
	}},
	{
		name: "certificate lacks an address", in: every,
		when: func(v *view) bool { return v.certifies() && v.Certificates.Awaited() }, find: func(v *view) finding.Finding {
			c := v.Certificates
			return v.findChange(finding.CertificateAwaitedFrom, cmp.Or(c.Provider, finding.TheProvider), c.Used.Lacks)
		},
	},
	{name: "certificate expires", in: every, when: (*view).certificateExpires, find: func(v *view) finding.Finding {
		return v.find(finding.CertificateExpires, finding.Args{Time: v.Certificates.Used.NotAfter},
			v.Certificates.reissue()...)
	}},
	{
		name: "no usable certificate", in: staying, ends: staying,
		when: func(v *view) bool { return !v.Certificates.Used.usable() },
	},
})
