package vault

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strings"
)

// request identifies a request: a unit and a name. A changed list of SANs makes it due again.
type request struct{ Unit, CN string }

type pair struct {
	SANs      []string
	Cert, Key string
}

// Answer returns what the provider's unit has on the relation once it has seen what the unit of a client published, as
// the charm does: a certificate is issued when it is first asked for and again when the SANs change; otherwise the
// answer is the same, byte for byte. A unit that has not asked gets the CA. unit is the client's name, which counts if
// the request doesn't say one. Requests as one JSON object (cert_requests), and for certificates of clients, aren't
// answered.
//
// Source: provides.py and tls_certificates_common.py of interface-tls-certificates,
// publish_ca_info and create_certs of charm-vault's src/reactive/vault_handlers.py.
func (c *CA) Answer(unit string, requestBag map[string]string) (providerBag map[string]string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if name := requestBag["unit_name"]; name != "" {
		unit = name
	}
	unit = strings.ReplaceAll(unit, "/", "_")
	bag := map[string]string{"ca": c.PEM()}
	if chain := c.ChainPEM(); chain != "" {
		bag["chain"] = chain
	}
	global := c.pair(request{"", "global-client"}, nil)
	bag["client.cert"], bag["client.key"] = global.Cert, global.Key

	if cn := requestBag["common_name"]; cn != "" {
		var sans []string
		err := json.Unmarshal([]byte(cmp.Or(requestBag["sans"], "[]")), &sans)
		if err == nil {
			err = valid(append(sans, cn))
		}
		if err != nil {
			return nil, fmt.Errorf("cannot answer %s: sans: %w", unit, err)
		}
		p := c.first(request{unit, cn}, sans)
		bag[unit+".server.cert"], bag[unit+".server.key"] = p.Cert, p.Key
	}
	return bag, nil
}

// first returns the answer to the request with keys of its own. These don't name the common name, so that a unit that
// goes back to an earlier one, with the same SANs, is left with the certificate of the later one. c.mu is held.
func (c *CA) first(r request, sans []string) pair {
	_, answered := c.firsts[r.Unit]
	before := c.issued[r]
	if p := c.pair(r, sans); !answered || p.Cert != before.Cert {
		c.firsts[r.Unit] = p
	}
	return c.firsts[r.Unit]
}

func (c *CA) pair(r request, sans []string) pair {
	sans = slices.Compact(slices.Sorted(slices.Values(sans)))
	if p, found := c.issued[r]; found && slices.Equal(p.SANs, sans) {
		return p
	}
	now := c.options.Now()
	p := pair{SANs: sans}
	p.Cert, p.Key = c.Issue(r.CN, sans, now.Add(-backdated).Add(min(c.options.TTL, 0)), now.Add(c.options.TTL))
	c.issued[r] = p
	return p
}

// Reissue forgets all that was issued, so that every unit gets a new answer: the charm's action reissue-certificates.
func (c *CA) Reissue() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.issued)
	clear(c.firsts)
}

// valid refuses the names that vault refuses, such as an address in brackets. The charm logs that and does not answer.
func valid(names []string) error {
	for _, n := range names {
		if net.ParseIP(n) == nil && (n == "" || strings.ContainsAny(n, "[]:/ \t\n\"")) {
			return fmt.Errorf("%q is neither a name nor an address", n)
		}
	}
	return nil
}
