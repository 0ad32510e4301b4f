package reconcile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/run"
	"github.com/ovn-central/ovn-central-operator/internal/tls"
	"github.com/ovn-central/ovn-central-operator/tests/harness/vault"
)

// programs plays Juju's tools and snap, by the line that is typed; what is not there
// fails. It keeps what was published and how often each program ran.
type programs struct {
	t         *testing.T
	answers   map[string]string
	published map[string]map[string]string
	ran       []string
}

func (p *programs) Run(_ context.Context, c run.Command) ([]byte, error) {
	line := strings.ReplaceAll(c.String(), " --format=json", "")
	p.ran = append(p.ran, line)
	if c.Name == "relation-set" {
		values := map[string]string{}
		require.NoError(p.t, json.Unmarshal(c.Stdin, &values))
		p.published[strings.TrimSuffix(line, " --file -")] = values
		return nil, nil
	}
	answer, found := p.answers[line]
	if !found {
		return nil, &run.Error{Command: c, ExitCode: 1, Stderr: "error: not played: " + line, Err: errors.New("exit status 1")}
	}
	return []byte(answer), nil
}

// answered is what ovn-central/0 at 10.0.0.1 has observed of a provider whose units answer with
// these, vault/0 first.
func answered(t *testing.T, answers ...map[string]string) certificates {
	t.Helper()
	played := map[string]string{
		"relation-ids certificates":                      `["certificates:3"]`,
		"relation-get -r certificates:3 - ovn-central/0": `{}`,
	}
	var units []string
	for i, answer := range answers {
		unit := fmt.Sprintf("vault/%d", i)
		text, err := json.Marshal(answer)
		require.NoError(t, err)
		units = append(units, unit)
		played["relation-get -r certificates:3 - "+unit] = string(text)
	}
	text, err := json.Marshal(units)
	require.NoError(t, err)
	played["relation-list -r certificates:3"] = string(text)
	u := &Reconciler{
		Machine: &observe.Machine{Env: juju.Env{Unit: "ovn-central/0", App: "ovn-central"}, Now: time.Now, Log: slog.New(slog.DiscardHandler)},
		Tools:   juju.New(&programs{t: t, answers: played}),
	}
	addresses := []netip.Addr{netip.MustParseAddr("10.0.0.1")}
	a := inputs{addresses: addresses, primary: addresses}
	require.NoError(t, u.observeCertificates(t.Context(), &a))
	return a.certificates
}

// The Python charm has asked for one address of each binding, and with a refresh no certificate is to
// be issued anew for that, nor while a virtual address comes and goes.
func TestRequestThatHasTheFirstAddressOfEachBindingIsKept(t *testing.T) {
	t.Parallel()
	network := func(addresses ...string) string {
		var listed []string
		for _, address := range addresses {
			listed = append(listed, fmt.Sprintf(`{"value":%q}`, address))
		}
		text, err := json.Marshal(addresses)
		require.NoError(t, err)
		return fmt.Sprintf(`{"bind-addresses":[{"interface-name":"eth0","addresses":[%s]}],"ingress-addresses":%s}`, strings.Join(listed, ","), text)
	}
	ca := vault.New("vault")
	for name, tt := range map[string]struct {
		asked            []string
		peer, chassis    string
		kept, usedWithIt bool
	}{
		"one address":             {[]string{"10.0.0.1"}, network("10.0.0.1"), network("10.0.0.1"), true, true},
		"two families":            {[]string{"10.0.0.1"}, network("10.0.0.1", "fd42::1"), network("10.0.0.1", "fd42::1"), true, true},
		"two spaces":              {[]string{"10.0.0.1", "10.9.0.1"}, network("10.0.0.1", "10.0.0.9"), network("10.9.0.1"), true, true},
		"another space":           {[]string{"10.0.0.1"}, network("10.0.0.1"), network("10.9.0.1"), false, false},
		"the address has changed": {[]string{"10.0.0.8"}, network("10.0.0.1"), network("10.0.0.1"), false, false},
	} {
		certificate, key := ca.Issue("machine-0", tt.asked, time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
		sans, err := json.Marshal(tt.asked)
		require.NoError(t, err)
		own, err := json.Marshal(map[string]string{"unit_name": "ovn-central_0", "common_name": "machine-0", "sans": string(sans)})
		require.NoError(t, err)
		answer, err := json.Marshal(map[string]string{"ovn-central_0.server.cert": certificate, "ovn-central_0.server.key": key, "ca": ca.PEM()})
		require.NoError(t, err)
		u := &Reconciler{
			Machine: &observe.Machine{Env: juju.Env{Unit: "ovn-central/0", App: "ovn-central"}, Now: time.Now, Log: slog.New(slog.DiscardHandler)},
			Paths:   ovndb.Paths{Etc: t.TempDir()},
			Tools: juju.New(&programs{t: t, answers: map[string]string{
				"network-get ovsdb-peer": tt.peer, "network-get ovsdb": tt.chassis, "network-get ovsdb-cms": tt.peer,
				"relation-ids certificates": `["certificates:3"]`, "relation-list -r certificates:3": `["vault/0"]`,
				"relation-get -r certificates:3 - ovn-central/0": string(own), "relation-get -r certificates:3 - vault/0": string(answer),
			}}),
		}
		_, err = u.credentials().Write(tls.Credentials{Key: []byte(key), Certificate: []byte(certificate), CA: []byte(ca.PEM())})
		require.NoError(t, err)
		a := inputs{thorough: true}
		require.NoError(t, u.observeAddress(t.Context(), &a, nil), name)
		require.NoError(t, u.observeCertificates(t.Context(), &a), name)
		assert.Equal(t, tt.kept, a.certificates.request.CommonName == "machine-0", name)
		if !tt.kept {
			assert.Subset(t, a.certificates.request.SANs, texts(a.addresses), name)
		}
		c := u.certificates(a)
		assert.Empty(t, c.Used.Problem, name)
		assert.Equal(t, tt.usedWithIt, c.Used.Lacks == "", "%s: %s", name, c.Used.Lacks)
		assert.Equal(t, c.Used.Lacks, c.Issued.Lacks, name)
	}
}

// A unit of vault that is down or sealed leaves what it has answered before.
func TestOfAProvidersAnswersOneThatCanBeUsedCountsAndTheNewestOfThose(t *testing.T) {
	t.Parallel()
	ca, other := vault.NewWith("vault", vault.Options{Chain: true}), vault.New("other")
	at := func(from, to time.Duration, address string) map[string]string {
		certificate, key := ca.Issue("ovn-central-0", []string{address}, time.Now().Add(from), time.Now().Add(to))
		return map[string]string{"ovn-central_0.server.cert": certificate, "ovn-central_0.server.key": key, "ca": ca.PEM(), "chain": ca.ChainPEM()}
	}
	without := func(answer map[string]string, key string) map[string]string {
		delete(answer, key)
		return answer
	}
	const mine = "10.0.0.1"
	expired, old, young := at(-2*time.Hour, -time.Hour, mine), at(-2*time.Hour, time.Hour, mine), at(-time.Hour, time.Hour, mine)
	chainless, keyless := without(at(-time.Minute, time.Hour, mine), "chain"), without(at(-time.Minute, time.Hour, mine), "ovn-central_0.server.key")
	elsewhere := at(-time.Minute, time.Hour, "10.0.0.9")
	alien := at(-time.Minute, time.Hour, mine)
	alien["ca"] = other.PEM()
	for name, tt := range map[string]struct {
		answers []map[string]string
		want    int
	}{
		"one":                        {[]map[string]string{young}, 0},
		"expired before":             {[]map[string]string{expired, young}, 1},
		"expired behind":             {[]map[string]string{young, expired}, 0},
		"without the chain":          {[]map[string]string{chainless, young}, 1},
		"of another CA":              {[]map[string]string{alien, young}, 1},
		"for another address":        {[]map[string]string{elsewhere, old}, 1},
		"without its key":            {[]map[string]string{keyless, young}, 1},
		"without its key behind":     {[]map[string]string{young, keyless}, 0},
		"nothing yet":                {[]map[string]string{{}, young}, 1},
		"the newest is first":        {[]map[string]string{young, old}, 0},
		"the newest is behind":       {[]map[string]string{old, young, expired}, 1},
		"two that are the same":      {[]map[string]string{young, young}, 0},
		"none can be used":           {[]map[string]string{expired, elsewhere}, 1},
		"none, the newest is first":  {[]map[string]string{elsewhere, expired}, 0},
		"one of all can't be parsed": {[]map[string]string{keyless, expired}, 1},
	} {
		got := answered(t, tt.answers...)
		require.NotNil(t, got.issued, name)
		assert.Equal(t, tt.answers[tt.want]["ovn-central_0.server.cert"], got.issued.Certificate, name)
		assert.Empty(t, got.problem, name)
	}
	got := answered(t, map[string]string{}, keyless)
	assert.Nil(t, got.issued)
	assert.Contains(t, got.problem, "vault/1: ")
}
