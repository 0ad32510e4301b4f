package plan_test

import (
	"testing"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
)

// having returns a change that sets these certificates.
func having(issued, used *plan.Certificate, more ...change) change {
	return all(append([]change{func(s *plan.State) {
		s.Certificates.Issued, s.Certificates.Used = issued, used
	}}, more...)...)
}

// certificateLacking returns a certificate that is valid but lacks an address.
func certificateLacking(fingerprint string) *plan.Certificate {
	c := certificate(fingerprint, "A")
	c.Lacks = finding.Quote("fd42::1")
	return c
}

func TestCertificates_every_state(t *testing.T) {
	t.Parallel()
	problem := func(text string) *plan.Certificate { return &plan.Certificate{Problem: finding.Quote(text)} }
	good, expired, untrusted := certificate("cert0", "A"), certificate("cert0", "A"), certificate("cert0", "", "B")
	expired.Problem, untrusted.Problem = finding.Quote("expired"), finding.Quote("not from the CA beside it")
	detached := func(s *plan.State) { s.Certificates.Related = false }
	const (
		awaited  = "waiting CERTIFICATES_AWAITED Reasons=CERTIFICATE_FOR vault/0 10.0.0.0"
		unusable = "error CERTIFICATE_UNUSABLE Detail="
		newOne   = "error CERTIFICATE_NEW_UNUSABLE Detail="
	)
	installs := works(plan.InstallCertificate, "")
	check(t, map[string]situation{
		"no relation": {having(nil, nil, detached), ready(unrelated)},
		"no relation, Juju 2.9": {
			having(nil, nil, detached, func(s *plan.State) { s.Integrate = "relate" }),
			ready("error CERTIFICATES_MISSING -> relate ovn-central:certificates vault"),
		},
		"no relation, used good": {
			having(nil, good, detached, func(s *plan.State) { s.Firewall = plan.Drifted }),
			works(plan.ConfigureFirewall, "", unrelated),
		},
		"no relation, used expired": {having(nil, expired, detached), ready(unrelated)},
		"no provider": {
			having(nil, nil, func(s *plan.State) { s.Certificates.Provider = "" }),
			ready("waiting CERTIFICATES_AWAITED Reasons=CERTIFICATE_FOR the provider 10.0.0.0"),
		},
		"none issued":               {having(nil, nil), ready(awaited)},
		"none issued, used expired": {having(nil, expired), ready(awaited, unusable+"expired"+reissue)},
		"none issued, used good":    {having(nil, good), ready()},
		"first":                     {having(good, nil), installs},
		"first unusable":            {having(problem("malformed"), nil), ready(unusable + "malformed" + reissue)},
		"expired":                   {having(expired, expired), ready(unusable + "expired" + reissue)},
		"expired, new":              {having(certificate("cert1", "A"), expired), installs},
		"expired, new from new CA":  {having(certificate("cert1", "B"), expired), installs},
		"used malformed":            {having(good, problem("malformed")), installs},
		"new unusable":              {having(problem("malformed"), good), ready(newOne + "malformed" + reissue)},
		"new CA, not issued again":  {having(untrusted, good), ready(newOne + "not from the CA beside it" + reissue)},
	})
}

// Neither servers nor units check the names in a certificate. One without an address of the machine, as the Python
// charm requested on a machine with several addresses, is no reason to stop anything.
func TestCertificates_lacking_address(t *testing.T) {
	t.Parallel()
	const awaited = "info CERTIFICATE_CHANGES Detail=fd42::1 Reasons=CERTIFICATE_AWAITED vault/0"
	lacking, again := certificateLacking("cert0"), certificateLacking("cert1")
	drifted := func(s *plan.State) { s.Firewall = plan.Drifted }
	stopped := only(plan.Database{Condition: ovndb.Down, Cluster: nbCluster})
	check(t, map[string]situation{
		"none issued": {having(nil, lacking, drifted), works(plan.ConfigureFirewall, "", awaited)},
		"same issued": {having(lacking, lacking, drifted), works(plan.ConfigureFirewall, "", awaited)},
		"server down": {
			having(lacking, lacking, stopped), does(plan.Start, nbServer, awaited, "waiting SERVER_DOWN nb"+nextHook),
		},
		"new lacks it too": {having(again, lacking), works(plan.InstallCertificate, "", awaited)},
		"new has it":       {having(certificate("cert1", "A"), lacking), works(plan.InstallCertificate, "", awaited)},
		"only new lacks it": {
			having(again, certificate("cert0", "A")), ready("error CERTIFICATE_NEW_UNUSABLE Detail=fd42::1" + reissue),
		},
		"first":       {having(lacking, nil), ready("error CERTIFICATE_UNUSABLE Detail=fd42::1" + reissue)},
		"no relation": {having(nil, lacking, func(s *plan.State) { s.Certificates.Related = false }), ready(unrelated)},
	})
}

func TestCertificates_expiry(t *testing.T) {
	t.Parallel()
	until := func(left time.Duration) change {
		return func(s *plan.State) {
			s.Certificates.Used.NotAfter = noon.Add(left)
			s.Certificates.Issued = s.Certificates.Used
		}
	}
	const expires = "warning CERTIFICATE_EXPIRES Time="
	check(t, map[string]situation{
		"30 days":     {until(30 * 24 * time.Hour), ready()},
		"less":        {until(30*24*time.Hour - time.Second), ready(expires + "2026-12-20 11:59:59 +0000 UTC" + reissue)},
		"in one hour": {until(time.Hour), ready(expires + "2026-11-20 13:00:00 +0000 UTC" + reissue)},
	})
}

// First every unit trusts the new CA, then each uses its new certificate, then the old CA is dropped.
func TestCertificates_CA_change(t *testing.T) {
	t.Parallel()
	second := func(trusts []string, issuer string) change {
		return func(s *plan.State) { s.Peers[1].Trusts, s.Peers[1].Issuer = trusts, issuer }
	}
	allTrust := func(s *plan.State) {
		s.Peers[0].Trusts, s.Peers[1].Trusts = []string{"A", "B"}, []string{"A", "B"}
	}
	allUse := all(allTrust, func(s *plan.State) { s.Peers[0].Issuer, s.Peers[1].Issuer = "B", "B" })
	// The unread peer's servers are still connected.
	unread := func(s *plan.State) {
		p := peer(1)
		s.Peers[0] = plan.Peer{Unit: p.Unit, Servers: p.Servers, Clusters: p.Clusters}
	}
	dying := func(s *plan.State) { s.Peers[0].Dying = true }
	down2 := func(s *plan.State) { silence(s, 2) }
	silent := func(s *plan.State) { silence(s, 1); silence(s, 2) }
	pause := func(s *plan.State) {
		s.Paused = true
		set(s, plan.Database{Condition: ovndb.Down}, ovndb.NB, ovndb.SB)
	}
	const (
		untrusted = "info CERTIFICATE_CHANGES Reasons=CA_NOT_TRUSTED "
		kept      = "info CERTIFICATE_CHANGES Reasons=OLD_CA_KEPT "
		unit1     = "ovn-central/1"
		unit2     = "ovn-central/2"
	)
	a, fromB := certificate("cert0", "A"), certificate("cert1", "B")
	trusting, using := certificate("cert0", "A", "B"), certificate("cert1", "B", "A")
	onlyA, both := []string{"A"}, []string{"A", "B"}
	installs := works(plan.InstallCertificate, "")
	check(t, map[string]situation{
		"not trusted here":            {having(fromB, a), works(plan.TrustCA, "")},
		"trusted here only":           {having(fromB, trusting), ready(untrusted + unit1)},
		"trusted here only, dying":    {having(fromB, trusting, dying), ready(untrusted + unit1)},
		"trusted here only, paused":   {having(fromB, trusting, pause), finds(untrusted+unit1, paused)},
		"one does not trust":          {having(fromB, trusting, allTrust, second(onlyA, "A")), ready(untrusted + unit2)},
		"one does not trust, down":    {having(fromB, trusting, allTrust, second(onlyA, "A"), down2), installs},
		"one publishes nothing":       {having(fromB, trusting, allTrust, second(nil, "")), installs},
		"one unread":                  {having(fromB, trusting, allTrust, unread), ready(untrusted + unit1)},
		"all trust":                   {having(fromB, trusting, allTrust), installs},
		"no peer heard":               {having(fromB, trusting, silent), installs},
		"used here only":              {having(fromB, using, allTrust), ready(kept + unit1)},
		"one uses the old":            {having(fromB, using, allUse, second(both, "A")), ready(kept + unit2)},
		"one has no issuer":           {having(fromB, using, allUse, second(nil, "")), ready(kept + unit2)},
		"all use it, one unread":      {having(fromB, using, allUse, unread), ready(kept + unit1)},
		"all use it":                  {having(fromB, using, allUse), works(plan.DropCAs, "")},
		"all use it, paused":          {having(fromB, using, allUse, pause), does(plan.DropCAs, "", paused)},
		"chain changed":               {having(certificate("cert0", "A", "root"), a), works(plan.TrustCA, "")},
		"issued again by the same CA": {having(certificate("cert1", "A"), a), installs},
	})
}
