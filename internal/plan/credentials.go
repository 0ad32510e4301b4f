package plan

import (
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/unitname"
)

// expiryNotice is how long before its expiry a certificate is reported in the status.
const expiryNotice = 30 * 24 * time.Hour

// Certificates describes this unit's certificates.
type Certificates struct {
	// Related reports whether there is a relation to a provider. Provider is the provider's unit that answers; empty
	// while none does.
	Related  bool
	Provider string
	// Issued is the provider's certificate, Used the certificate on the disk; nil if there is none.
	Issued, Used *Certificate
}

// Certificate describes a key, its certificate and CAs by the values on which decisions depend.
type Certificate struct {
	// Fingerprint identifies the certificate.
	Fingerprint string
	// Issuer is the CA that issued it. Trusts are all CAs that come with it.
	Issuer string
	Trusts []string
	// NotAfter is the time of its expiry.
	NotAfter time.Time
	// Problem is why the certificate can't be used.
	Problem finding.Reason
	// Lacks names this unit's address if the certificate does not contain it. Servers and units accept such a
	// certificate, since they check no names (stream-ssl.c); other clients may refuse it.
	Lacks finding.Reason
}

func (c *Certificate) usable() bool { return c != nil && c.Problem.IsZero() }

// Drifted reports whether a certificate was issued that is not used yet, or is used along with older CAs. It may be
// unusable.
func (c Certificates) Drifted() bool {
	return c.Issued != nil && (c.Used == nil || c.Used.Fingerprint != c.Issued.Fingerprint ||
		!slices.Equal(c.Used.Trusts, c.Issued.Trusts))
}

// Awaited reports whether a new certificate is expected, with an address that the current one lacks.
func (c Certificates) Awaited() bool { return c.Related && c.Used.usable() && !c.Used.Lacks.IsZero() }

// unfit returns why the issued certificate should not be used. A missing address is no reason if the current
// certificate lacks it, too.
func (c Certificates) unfit() finding.Reason {
	switch {
	case c.Issued == nil:
		return finding.Reason{}
	case c.Awaited() || !c.Issued.Problem.IsZero():
		return c.Issued.Problem
	}
	return c.Issued.Lacks
}

// reissue returns the command that issues certificates again: an action of vault's charm. Other providers have no
// such action, or another name for it.
func (c Certificates) reissue() []finding.Remedy {
	if c.Provider == "" {
		return nil
	}
	return []finding.Remedy{finding.Do(command.Command{
		Unit:   unitname.Application(c.Provider) + "/leader",
		Action: "reissue-certificates",
	})}
}
