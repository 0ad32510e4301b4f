package plan_test

import (
	"testing"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
)

// having makes a state with these certificates.
func having(issued, used *plan.Certificate, more ...func(*plan.State)) func(*plan.State) {
	return func(s *plan.State) {
		s.Certificates.Issued, s.Certificates.Used = issued, used
		for _, change := range more {
			change(s)
		}
	}
}

// addressless is a certificate that lacks an address but is valid otherwise.
func addressless(fingerprint string) *plan.Certificate {
	c := certificate(fingerprint, "A")
	c.Lacks = "certificate is for 10.0.0.0, this unit is fd42::1"
	return c
}

func problem(text string) *plan.Certificate { return &plan.Certificate{Problem: text} }

func TestCertificates_every_state(t *testing.T) {
	t.Parallel()
	good := certificate("cert0", "A")
	expired := certificate("cert0", "A")
	expired.Problem = "certificate expired on 2026-11-01"
	untrusted := certificate("cert0", "", "B")
	untrusted.Problem = "certificate is not from the CA beside it"
	check(t, map[string]situation{
		"no relation": {
			having(nil, nil, func(s *plan.State) { s.Certificates.Related = false }), ready("",
				"error CERTIFICATES_MISSING -> integrate ovn-central:certificates vault"),
		},
		"no relation, and Juju 2.9": {
			having(nil, nil, func(s *plan.State) { s.Certificates.Related, s.Integrate = false, "relate" }),
			ready("", "error CERTIFICATES_MISSING -> relate ovn-central:certificates vault"),
		},
		"the relation was removed, and the certificate is good": {
			having(nil, good, func(s *plan.State) { s.Certificates.Related, s.Firewall = false, plan.Drifted }),
			ready("set the firewall", "error CERTIFICATES_MISSING -> integrate ovn-central:certificates vault"),
		},
		"the relation was removed, and the certificate has expired": {
			having(nil, expired, func(s *plan.State) { s.Certificates.Related = false }), ready("",
				"error CERTIFICATES_MISSING -> integrate ovn-central:certificates vault"),
		},
		"no_answer": {
			having(nil, nil, func(s *plan.State) { s.Certificates.Provider = "" }),
			ready("", "waiting CERTIFICATES_AWAITED Detail=from the provider for 10.0.0.0"),
		},
		"none issued yet": {
			having(nil, nil), ready("", "waiting CERTIFICATES_AWAITED Detail=from vault/0 for 10.0.0.0"),
		},
		"the first": {having(good, nil), ready("install the certificate (this unit has no certificate that can be used)")},
		"the first can't be used": {
			having(problem("certificate is for 10.0.0.9, this unit is 10.0.0.0"), nil),
			ready("",
				"error CERTIFICATE_UNUSABLE Detail=certificate is for 10.0.0.9, this unit is 10.0.0.0 -> vault/leader reissue-certificates"),
		},
		"expired": {
			having(expired, expired), ready("",
				"error CERTIFICATE_UNUSABLE Detail=certificate expired on 2026-11-01 -> vault/leader reissue-certificates"),
		},
		"expired, and the provider says nothing": {
			having(nil, expired), ready("",
				"waiting CERTIFICATES_AWAITED Detail=from vault/0 for 10.0.0.0",
				"error CERTIFICATE_UNUSABLE Detail=certificate expired on 2026-11-01 -> vault/leader reissue-certificates"),
		},
		"expired, and issued again": {having(certificate("cert1", "A"), expired), ready("install the certificate (this unit has no certificate that can be used)")},
		"expired, and issued again by a new CA": {
			having(certificate("cert1", "B"), expired), ready("install the certificate (this unit has no certificate that can be used)"),
		},
		"half-written on the disk": {
			having(good, problem("key is malformed")), ready("install the certificate (this unit has no certificate that can be used)"),
		},
		"the new one can't be used": {
			having(problem("certificate is malformed"), good),
			ready("",
				"error CERTIFICATE_NEW_UNUSABLE Detail=certificate is malformed -> vault/leader reissue-certificates"),
		},
		"the provider has a new CA, and has not issued again": {
			having(untrusted, good),
			ready("",
				"error CERTIFICATE_NEW_UNUSABLE Detail=certificate is not from the CA beside it -> vault/leader reissue-certificates"),
		},
		"the provider is silent for a while": {having(nil, good), ready("")},
	})
}

// Neither servers nor units check the names in a certificate: one that lacks an address, as that of the Python charm on
// a machine with several, is no reason to stop anything.
func TestCertificates_lacking_address_is_used_meanwhile(t *testing.T) {
	t.Parallel()
	const (
		why     = "certificate is for 10.0.0.0, this unit is fd42::1"
		awaited = "new certificate awaited from vault/0 (" + why + ")"
		certify = "install the certificate (the certificate was issued again)"
	)
	drifted := func(s *plan.State) { s.Firewall = plan.Drifted }
	down := func(s *plan.State) {
		set(s, plan.Database{Condition: ovndb.Down, Cluster: nbCluster, Text: "the server is not running"}, ovndb.NB)
	}
	check(t, map[string]situation{
		"the provider is silent": {having(nil, addressless("cert0"), drifted), ready("set the firewall",
			"info CERTIFICATE_CHANGES Value=a new one is awaited from vault/0 Detail=certificate is for 10.0.0.0, this unit is fd42::1")},
		"its answer is the old": {having(addressless("cert0"), addressless("cert0"), drifted), ready("set the firewall",
			"info CERTIFICATE_CHANGES Value=a new one is awaited from vault/0 Detail=certificate is for 10.0.0.0, this unit is fd42::1")},
		"a server is down": {having(addressless("cert0"), addressless("cert0"), down), does("start ovn-ovsdb-server-nb",
			"info CERTIFICATE_CHANGES Value=a new one is awaited from vault/0 Detail=certificate is for 10.0.0.0, this unit is fd42::1",
			"waiting SERVER_DOWN nb")},
		"issued again without it": {having(addressless("cert1"), addressless("cert0")), ready(certify,
			"info CERTIFICATE_CHANGES Value=a new one is awaited from vault/0 Detail=certificate is for 10.0.0.0, this unit is fd42::1")},
		"issued with it": {having(certificate("cert1", "A"), addressless("cert0")), ready(certify,
			"info CERTIFICATE_CHANGES Value=a new one is awaited from vault/0 Detail=certificate is for 10.0.0.0, this unit is fd42::1")},
		"the one in use has it": {having(addressless("cert1"), certificate("cert0", "A")), ready("",
			"error CERTIFICATE_NEW_UNUSABLE Detail=certificate is for 10.0.0.0, this unit is fd42::1 -> vault/leader reissue-certificates")},
		"the first lacks it": {having(addressless("cert0"), nil), ready("",
			"error CERTIFICATE_UNUSABLE Detail=certificate is for 10.0.0.0, this unit is fd42::1 -> vault/leader reissue-certificates")},
		"the relation was removed": {having(nil, addressless("cert0"), func(s *plan.State) { s.Certificates.Related = false }), ready("",
			"error CERTIFICATES_MISSING -> integrate ovn-central:certificates vault")},
	})
}

func TestCertificates_expiry_notice(t *testing.T) {
	t.Parallel()
	until := func(left time.Duration) func(*plan.State) {
		return func(s *plan.State) {
			s.Certificates.Used.NotAfter = noon.Add(left)
			s.Certificates.Issued = s.Certificates.Used
		}
	}
	check(t, map[string]situation{
		"on the day": {until(30 * 24 * time.Hour), ready("")},
		"a moment later": {until(30*24*time.Hour - time.Second), ready("",
			"warning CERTIFICATE_EXPIRES Time=2026-12-20 11:59:59 +0000 UTC -> vault/leader reissue-certificates")},
		"the last hour of a day": {until(time.Hour), ready("",
			"warning CERTIFICATE_EXPIRES Time=2026-11-20 13:00:00 +0000 UTC -> vault/leader reissue-certificates")},
	})
}

// First every unit trusts the new CA, then each uses its new certificate, then the old CA is dropped.
func TestCertificates_CA_change_waits_for_units(t *testing.T) {
	t.Parallel()
	peers := func(trusts []string, issuer string) func(*plan.State) {
		return func(s *plan.State) { s.Peers[1].Trusts, s.Peers[1].Issuer = trusts, issuer }
	}
	allTrust := func(s *plan.State) {
		s.Peers[0].Trusts, s.Peers[1].Trusts = []string{"A", "B"}, []string{"A", "B"}
	}
	allUse := func(s *plan.State) {
		allTrust(s)
		s.Peers[0].Issuer, s.Peers[1].Issuer = "B", "B"
	}
	// Its servers are cached, and connected.
	unread := func(s *plan.State) {
		s.Peers[0] = plan.Peer{Unit: "ovn-central/1", Data: plan.Unread, Servers: peer(1).Servers, Clusters: peer(1).Clusters}
	}
	silent := func(s *plan.State) {
		silence(s, 1)
		silence(s, 2)
	}
	paused := func(s *plan.State) {
		s.Paused = true
		set(s, plan.Database{Condition: ovndb.Down}, ovndb.NB, ovndb.SB)
	}
	const (
		late    = "certificates: new one used once ovn-central/1 trusts its CA"
		late2   = "certificates: new one used once ovn-central/2 trusts its CA"
		kept    = "certificates: old CA kept until ovn-central/1 uses the new one"
		kept2   = "certificates: old CA kept until ovn-central/2 uses the new one"
		trust   = "trust the CA (the CA is new)"
		certify = "install the certificate (the certificate was issued again)"
		paused1 = "paused; run: juju run ovn-central/0 resume"
	)
	fromB, trusting, using := certificate("cert1", "B"), certificate("cert0", "A", "B"), certificate("cert1", "B", "A")
	check(t, map[string]situation{
		"trusted_by_none": {having(fromB, certificate("cert0", "A")), ready(trust)},
		"only this unit does": {having(fromB, trusting), ready("",
			"info CERTIFICATE_CHANGES Value=new one used once ovn-central/1 trusts its CA")},
		"one does not": {having(fromB, trusting, allTrust, peers([]string{"A"}, "A")), ready("",
			"info CERTIFICATE_CHANGES Value=new one used once ovn-central/2 trusts its CA")},
		"not_by_dying_peer": {having(fromB, trusting, func(s *plan.State) { s.Peers[0].Dying = true }), ready("",
			"info CERTIFICATE_CHANGES Value=new one used once ovn-central/1 trusts its CA")},
		"not_by_down_peer": {having(fromB, trusting, allTrust, peers([]string{"A"}, "A"), func(s *plan.State) { silence(s, 2) }), ready(certify)},
		"one says nothing": {having(fromB, trusting, allTrust, peers(nil, "")), ready(certify)},
		"one could not be read": {having(fromB, trusting, allTrust, unread), ready("",
			"info CERTIFICATE_CHANGES Value=new one used once ovn-central/1 trusts its CA")},
		"peer_unreadable": {having(fromB, using, allUse, unread), ready("",
			"info CERTIFICATE_CHANGES Value=old CA kept until ovn-central/1 uses the new one")},
		"all do":        {having(fromB, trusting, allTrust), ready(certify)},
		"no_peer_heard": {having(fromB, trusting, silent), ready(certify)},
		"this unit's servers are down": {having(fromB, trusting, paused), finds(
			"info CERTIFICATE_CHANGES Value=new one used once ovn-central/1 trusts its CA",
			"warning PAUSED -> ovn-central/0 resume")},
		"only this unit uses it": {having(fromB, using, allTrust), ready("",
			"info CERTIFICATE_CHANGES Value=old CA kept until ovn-central/1 uses the new one")},
		"one uses the old one": {having(fromB, using, allUse, peers([]string{"A", "B"}, "A")), ready("",
			"info CERTIFICATE_CHANGES Value=old CA kept until ovn-central/2 uses the new one")},
		"peer_without_issuer": {having(fromB, using, allUse, peers(nil, "")), ready("",
			"info CERTIFICATE_CHANGES Value=old CA kept until ovn-central/2 uses the new one")},
		"all use it": {having(fromB, using, allUse), ready("drop the CAs from before (every unit uses the new CA)")},
		"all use it, and this one is paused": {
			having(fromB, using, allUse, paused), does("drop the CAs from before (every unit uses the new CA)",
				"warning PAUSED -> ovn-central/0 resume"),
		},
		"the chain has changed": {
			having(certificate("cert0", "A", "root"), certificate("cert0", "A")),
			ready("trust the CA (the CA's own certificates have changed)"),
		},
		"the same CA issues again": {having(certificate("cert1", "A"), certificate("cert0", "A")), ready(certify)},
	})
}
