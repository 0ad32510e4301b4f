package reconcile

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/membership"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
	"github.com/ovn-central/ovn-central-operator/internal/tls"
)

// certificates compares what was issued with what is on the disk.
func (u *Reconciler) certificates(a inputs) plan.Certificates {
	c := plan.Certificates{Related: a.certificates.related, Provider: a.certificates.provider}
	if used, err := u.credentials().Read(); err == nil {
		c.Used = u.certificate(used, a.primary)
	} else if !errors.Is(err, tls.ErrNone) {
		c.Used = &plan.Certificate{Problem: err.Error()}
	}
	if issued := a.certificates.issued; issued != nil {
		c.Issued = u.certificate(credentialsOf(*issued), a.primary)
	} else if a.certificates.problem != "" {
		c.Issued = &plan.Certificate{Problem: a.certificates.problem}
	}
	return c
}

// preferred says whether one answer is rather to be used than the other.
func (u *Reconciler) preferred(issued, other relation.Issued, addresses []netip.Addr) bool {
	names := tls.Names{Addresses: addresses}
	info, problem := tls.Check(credentialsOf(issued), names, u.Now())
	than, otherProblem := tls.Check(credentialsOf(other), names, u.Now())
	if (problem == nil) != (otherProblem == nil) {
		return problem == nil
	}
	return info.NotBefore.After(than.NotBefore)
}

// usable says whether the certificate on the disk can be used.
func (u *Reconciler) usable() bool {
	used, err := u.credentials().Read()
	return err == nil && u.certificate(used, nil).Problem == ""
}

func (u *Reconciler) credentials() tls.Files { return tls.Files(u.Paths.Credentials()) }

func credentialsOf(issued relation.Issued) tls.Credentials {
	return tls.Credentials{
		Key: []byte(issued.Key), Certificate: []byte(issued.Certificate),
		CA: []byte(joinPEM(issued.CA, issued.Chain)),
	}
}

func (u *Reconciler) certificate(c tls.Credentials, addresses []netip.Addr) *plan.Certificate {
	info, err := tls.Check(c, tls.Names{Addresses: addresses}, u.Now())
	x := &plan.Certificate{Issuer: info.Issuer, Trusts: slices.Clone(info.Authorities), NotAfter: info.NotAfter}
	slices.Sort(x.Trusts)
	if prints, err := tls.Fingerprints(c.Certificate); err == nil && len(prints) > 0 {
		x.Fingerprint = prints[0]
	}
	var p *tls.Problem
	switch {
	case errors.As(err, &p) && p.Kind == tls.MissingAddress:
		x.Lacks = err.Error()
	case err != nil:
		x.Problem = err.Error()
	}
	return x
}

// installCertificate writes the certificates' files, under the servers that run.
func (u *Reconciler) installCertificate(ctx context.Context, a inputs, o Result, kind plan.Kind) error {
	issued := credentialsOf(*a.certificates.issued)
	used, err := u.credentials().Read()
	if err != nil && !errors.Is(err, tls.ErrNone) {
		u.Log.WarnContext(ctx, "cannot read the certificate that is replaced", "error", err)
	}
	next := issued
	if kind != plan.DropCAs {
		if next.CA, err = tls.Bundle(u.Now(), issued.CA, used.CA); err != nil {
			if next.CA, err = tls.Bundle(u.Now(), issued.CA); err != nil {
				return err
			}
		}
	}
	if kind == plan.TrustCA {
		next.Key, next.Certificate = used.Key, used.Certificate
	}
	// Newer packages leave it to systemd to make the directory.
	if err := os.MkdirAll(u.Paths.Etc, 0o755); err != nil {
		return err
	}
	write := func(ctx context.Context) error {
		if _, err := u.credentials().Write(next); err != nil {
			return err
		}
		u.Dialer.Forget()
		return u.stillServed(ctx, a, o)
	}
	if !server(o, ovndb.NB).Member() || !server(o, ovndb.SB).Member() || !server(o, ovndb.NB).Status.HasLeader() || !server(o, ovndb.SB).Status.HasLeader() {
		return write(ctx) // nothing is lost that way, and maybe everything won
	}
	return u.Members.WithLocks(ctx, o.Snapshot.Application, ovndb.Databases(), false, func(ctx context.Context, _ membership.Gate) error { return write(ctx) })
}

// stillServed returns once the servers answer with the new files, as they do
// within a turn of their main loop.
func (u *Reconciler) stillServed(ctx context.Context, a inputs, o Result) error {
	for _, db := range ovndb.Databases() {
		if !o.state.Databases[db].ClientsServed {
			continue
		}
		look := func() error { return u.served(ctx, db, a.address) }
		err := await(ctx, reloadPatience, look)
		if err != nil {
			err = u.reloaded(ctx, db, a.address)
		}
		if err != nil {
			return fmt.Errorf("the servers do not answer with the new certificate: %w", err)
		}
	}
	return nil
}

// joinPEM puts PEM texts together, each from a line's beginning.
func joinPEM(parts ...string) string {
	var all strings.Builder
	for _, p := range parts {
		if p = strings.TrimSpace(p); p != "" {
			all.WriteString(p + "\n")
		}
	}
	return all.String()
}
