package plan

import (
	"cmp"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/unitname"
)

// expiryNotice is how long before its end a certificate is in the status.
const expiryNotice = 30 * 24 * time.Hour

// Certificates are those of this unit.
type Certificates struct {
	// Related says that there is a relation to a provider, Provider which unit of
	// it answers; empty while none does.
	Related  bool
	Provider string
	// Issued is what the provider has issued, Used what is on the disk. Nil: none.
	Issued, Used *Certificate
}

// Certificate is a key, its certificate and the CAs beside it, as far as a
// decision depends on them.
type Certificate struct {
	// Fingerprint tells it from another one.
	Fingerprint string
	// Issuer is the CA that it is from, Trusts all CAs beside it.
	Issuer string
	Trusts []string
	// NotAfter is its end.
	NotAfter time.Time
	// Problem is why it can't be used: for people, one line.
	Problem string
	// Lacks says that it is good, but for an address of the unit's, in the same form. Servers
	// and units work with it, since they look at no names (stream-ssl.c); others may refuse it.
	Lacks string
}

func (c *Certificate) usable() bool { return c != nil && c.Problem == "" }

// Drifted says whether something was issued that is not used yet, or not yet alone. It may be
// that it can't be used.
func (c Certificates) Drifted() bool {
	return c.Issued != nil && (c.Used == nil || c.Used.Fingerprint != c.Issued.Fingerprint || !slices.Equal(c.Used.Trusts, c.Issued.Trusts))
}

// Awaited says whether another certificate is waited for, with an address that the one in use lacks.
func (c Certificates) Awaited() bool { return c.Related && c.Used.usable() && c.Used.Lacks != "" }

// unfit is why what was issued is not to be used. That it lacks an address is no reason where
// what is used lacks one too.
func (c Certificates) unfit() string {
	switch {
	case c.Issued == nil:
		return ""
	case c.Awaited():
		return c.Issued.Problem
	}
	return cmp.Or(c.Issued.Problem, c.Issued.Lacks)
}

// reissue is how the provider issues certificates again: the action of vault's charm. Other providers
// have none, or one of another name.
func (c Certificates) reissue() []finding.Remedy {
	if c.Provider == "" {
		return nil
	}
	return []finding.Remedy{finding.Do(command.Command{Unit: unitname.Application(c.Provider) + "/leader", Action: "reissue-certificates"})}
}

// planCertificates brings the certificate that was issued into use, so that no
// connection is refused on the way: first every unit trusts the new CA, then
// each uses its new certificate, then the old CA goes. It says whether there is
// a certificate to work with.
func (s State) planCertificates(d *Decision) bool {
	c := s.Certificates
	switch {
	case !c.Related && s.Dying: // Juju takes the relations away before the unit
	case !c.Related:
		d.find(finding.CertificatesMissing, finding.Args{},
			finding.Do(command.Client(cmp.Or(s.Integrate, "integrate"), unitname.Application(s.Unit)+":certificates", "vault")))
	case c.Issued == nil && !c.Used.usable():
		// It begins as the Python charm's (states_to_check of its ovn_central.py), which
		// deployments wait for.
		d.find(finding.CertificatesAwaited, finding.Args{Detail: "from " + cmp.Or(c.Provider, "the provider") + " for " + cmp.Or(s.Address, "this unit")})
	case c.unfit() != "" && !c.Used.usable():
		d.find(finding.CertificateUnusable, finding.Args{Detail: c.unfit()}, c.reissue()...)
	case c.unfit() != "":
		d.find(finding.CertificateNewUnusable, finding.Args{Detail: c.unfit()}, c.reissue()...)
	case c.Issued != nil:
		s.planRotation(d, c)
	}
	if c.Used != nil && c.Issued == nil && c.Used.Problem != "" && c.Related {
		d.find(finding.CertificateUnusable, finding.Args{Detail: c.Used.Problem}, c.reissue()...)
	}
	if c.Awaited() {
		d.find(finding.CertificateChanges, finding.Args{Value: "a new one is awaited from " + cmp.Or(c.Provider, "the provider"), Detail: c.Used.Lacks})
	}
	if c.Used.usable() && c.Used.NotAfter.Before(s.Now.Add(expiryNotice)) {
		d.find(finding.CertificateExpires, finding.Args{Time: c.Used.NotAfter}, c.reissue()...)
	}
	return c.Used.usable()
}

// planRotation is one step from what is used to what was issued, which is good.
func (s State) planRotation(d *Decision, c Certificates) {
	switch {
	case !c.Used.usable():
		d.do(Step{Kind: InstallCertificate, Reason: "this unit has no certificate that can be used"})
	case c.Used.Fingerprint == c.Issued.Fingerprint:
		if !c.Drifted() {
			return
		}
		if missing(c.Issued.Trusts, c.Used.Trusts) {
			d.do(Step{Kind: TrustCA, Reason: "the CA's own certificates have changed"})
		} else if late := s.others(func(p Peer) bool { return p.Issuer == c.Issued.Issuer }); late == "" {
			d.do(Step{Kind: DropCAs, Reason: "every unit uses the new CA"})
		} else {
			d.find(finding.CertificateChanges, finding.Args{Value: "old CA kept until " + late + " uses the new one"})
		}
	case missing(c.Issued.Trusts, c.Used.Trusts):
		d.do(Step{Kind: TrustCA, Reason: "the CA is new"})
	default:
		if late := s.others(func(p Peer) bool { return len(p.Trusts) == 0 || p.trusts(c.Issued.Issuer) }); late == "" {
			d.do(Step{Kind: InstallCertificate, Reason: "the certificate was issued again"})
		} else {
			d.find(finding.CertificateChanges, finding.Args{Value: "new one used once " + late + " trusts its CA"})
		}
	}
}

// others names the first peer that is up and for which not all is well; empty if
// there is none. One of which nothing was read is not well. One that is down is not
// waited for: it finds all it needs when it is back.
func (s State) others(well func(Peer) bool) string {
	for _, p := range s.Peers {
		if s.hears(p) && (p.Data == Unread || !well(p)) {
			return p.Unit
		}
	}
	return ""
}

// hears says whether one of this unit's servers has the peer's as connected. A
// unit without servers can't know, and takes it that every peer is there.
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
