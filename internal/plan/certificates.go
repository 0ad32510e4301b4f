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

// expiryNotice is how long before its expiry a certificate is in the status.
const expiryNotice = 30 * 24 * time.Hour

// Certificates are those of this unit.
type Certificates struct {
	// Related reports whether there is a relation to a provider. Provider is its unit that answers; empty while none
	// does.
	Related  bool
	Provider string
	// Issued is the provider's certificate, Used the one on the disk; nil if there is none.
	Issued, Used *Certificate
}

// Certificate is a key, its certificate and CAs, reduced to what decisions depend on.
type Certificate struct {
	// Fingerprint identifies it.
	Fingerprint string
	// Issuer is the CA that issued it, Trusts all CAs beside it.
	Issuer string
	Trusts []string
	// NotAfter is its expiry.
	NotAfter time.Time
	// Problem is why it can't be used, in one line for people.
	Problem string
	// Lacks is the unit's address that it lacks, in the same form. Servers and units accept it, since they check no
	// names (stream-ssl.c); other clients may refuse it.
	Lacks string
}

func (c *Certificate) usable() bool { return c != nil && c.Problem == "" }

// Drifted reports whether a certificate was issued that is not used yet, or not exclusively. It may be unusable.
func (c Certificates) Drifted() bool {
	return c.Issued != nil && (c.Used == nil || c.Used.Fingerprint != c.Issued.Fingerprint || !slices.Equal(c.Used.Trusts, c.Issued.Trusts))
}

// Awaited reports whether another certificate is expected, with an address that the current one lacks.
func (c Certificates) Awaited() bool { return c.Related && c.Used.usable() && c.Used.Lacks != "" }

// unfit is why the issued certificate should not be used. A missing address is no reason if the current one lacks it,
// too.
func (c Certificates) unfit() string {
	switch {
	case c.Issued == nil:
		return ""
	case c.Awaited():
		return c.Issued.Problem
	}
	return cmp.Or(c.Issued.Problem, c.Issued.Lacks)
}

// reissue is the command to issue certificates again: an action of vault's charm. Other providers have none, or another
// name.
func (c Certificates) reissue() []finding.Remedy {
	if c.Provider == "" {
		return nil
	}
	return []finding.Remedy{finding.Do(command.Command{Unit: unitname.Application(c.Provider) + "/leader", Action: "reissue-certificates"})}
}

// planCertificates starts to use the issued certificate, in steps that refuse no connection: first every unit trusts
// the new CA, then each uses its new certificate, then the old CA is dropped. It reports whether there is a certificate
// to work with.
func (s State) planCertificates(d *Decision) bool {
	c := s.Certificates
	switch {
	case !c.Related && s.Dying: // Juju removes the relations before the unit
	case !c.Related:
		d.find(finding.CertificatesMissing, finding.Args{},
			finding.Do(command.Client(cmp.Or(s.Integrate, "integrate"), unitname.Application(s.Unit)+":certificates", "vault")))
	case c.Issued == nil && !c.Used.usable():
		// The text begins like the Python charm's (states_to_check of its ovn_central.py), which deployments wait for.
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

// planRotation is one step from the used certificate to the issued one, which is valid.
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

// others is the first peer that is up and does not fulfil well; empty if there is none. An unread peer does not fulfil
// it. A peer that is down is not awaited: it catches up when it returns.
func (s State) others(well func(Peer) bool) string {
	for _, p := range s.Peers {
		if s.hears(p) && (p.Data == Unread || !well(p)) {
			return p.Unit
		}
	}
	return ""
}

// hears reports whether one of this unit's servers is connected to the peer's. A unit without servers can't know, and
// assumes that every peer is up.
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
