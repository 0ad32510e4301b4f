package relation

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/foreign"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// FuzzParseUnit shows that a peer's data never causes a panic, an invalid identity, or the loss of the other database.
func FuzzParseUnit(f *testing.F) {
	f.Add("13e4", string(nbServer), string(nbCluster), "17")
	f.Add("0017", "", "", "-1")
	f.Add("", string(nbServer), "", "")
	f.Add("130000", "null", "{}", "0x10")
	f.Add("13e4\n", "13E4F3B0-1111-4222-8333-444444444444", "\x00\xff", "99999999999999999999")
	f.Fuzz(func(t *testing.T, identity, server, cluster, since string) {
		databag := map[string]string{
			"nb-identity": identity, "nb-server-id": server, "nb-cluster-id": cluster,
			"nb-member-since": since,
		}
		u, problems := ParseIdentities(databag)
		for _, p := range problems {
			require.Less(t, len(p), 500) // quotes 40 characters, of which each can take ten bytes
		}
		id, found := u[ovndb.NB]
		if found {
			require.True(t, raft.IsIdentity(id.Server.Short()), "%q", id.Server)
			require.Equal(t, identity, id.Server.Short())
			require.Contains(t, []int{4, 36}, len(id.Server))
			require.Contains(t, []int{0, 36}, len(id.Cluster))
		}
		if !found && (identity != "" || server != "") {
			require.NotEmpty(t, problems, "left out without a problem: %q", databag)
		}

		both := Identities{ovndb.SB: {Server: sbServer}}.Databag()
		maps.Copy(both, databag)
		u, _ = ParseIdentities(both)
		require.Equal(t, Identity{Server: sbServer}, u[ovndb.SB])
		require.Equal(t, id, u[ovndb.NB])
	})
}

// FuzzDatabag gives every reader of relation data a key and a value that another party wrote. What the readers
// return is clean (R18), and what they say about malformed data is short.
func FuzzDatabag(f *testing.F) {
	long := strings.Repeat("h", 110_000)
	for _, key := range []string{
		"hostname", "package-source", "certificate-issuer", "trusted-cas", "running-version", "northd", "northd-none-active",
		"northd-none-active-heard", "nb-recovery", "nb-copy", "sb-copy",
		"nb_recovery", "nb-servers", "nb-members", "nb_cid", "nb_superseded", "created-by", "claim-ovn-central-1",
		"bound-address",
		"cms-client-bound-address", "nagios_hostname", "nagios_host_context", "nb-identity", "nb-server-id", "nb-clients",
		"paused", "unit",
	} {
		for _, value := range []string{
			"\x1b[2Ja\r\nnext: juju remove-unit ovn-central/0", long,
			`{"cluster":"\u001b[2J","given-up":["\n"],"damage":"` + long + `"}`, "{}", "null",
		} {
			f.Add(key, value)
		}
	}
	f.Fuzz(func(t *testing.T, key, value string) {
		bag := map[string]string{key: value}
		state, problems := ParseUnitState(bag)
		cleaned := state
		foreign.Texts(&cleaned)
		require.Equal(t, cleaned, state)
		clusters, more := ParseClusters(bag)
		problems = append(problems, more...)
		require.True(t, foreign.IsName(clusters.CreatedBy))
		require.True(t, foreign.IsName(string(ParseClaim(bag, "ovn-central/1"))))
		for _, addresses := range ParseMembers(bag) {
			for _, a := range addresses {
				require.True(t, foreign.IsName(a))
			}
		}
		history, more := ParseHistory(bag)
		problems = append(problems, more...)
		for _, servers := range history {
			for _, s := range servers {
				require.True(t, foreign.IsName(s.Unit))
			}
		}
		_, more = ParseIdentities(bag)
		problems = append(problems, more...)
		if _, err := ParseNagiosHost("ovn-central/0", "", bag); err != nil {
			problems = append(problems, err.Error())
		}
		if _, _, err := ClientAddress(bag); err != nil {
			problems = append(problems, err.Error())
		}
		ParseAccepted(bag)
		for _, p := range problems {
			require.Equal(t, foreign.Reason(p), p, "it has no control characters")
		}
	})
}

// FuzzParseHistory shows that malformed data causes no panic, and that what is read has full IDs only and is written
// unchanged.
func FuzzParseHistory(f *testing.F) {
	whole := History{}.removed(ovndb.NB, nbServer, "ovn-central/4", time.Unix(1795000000, 0)).Databag()["nb-servers"]
	for _, text := range []string{
		whole, whole[:len(whole)-1], "", "null", "{}", "[]", `""`, "0", `{"13e4":{}}`, `{"` + string(nbServer) + `":null}`,
		`{"` + string(nbServer) + `":{"removed":"yesterday"}}`, `{"` + string(nbServer) +
			`":{"removed":"9999-12-31T23:59:59-23:59"}}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		sound := History{}.removed(ovndb.SB, sbServer, "ovn-central/5", time.Unix(1795000000, 0))
		databag := sound.Databag()
		databag["nb-servers"] = text
		h, _ := ParseHistory(databag)
		require.Equal(t, sound[ovndb.SB], h[ovndb.SB], "the other database")
		for id := range h[ovndb.NB] {
			_, ok := raft.ParseID(string(id))
			require.True(t, ok, "%q", id)
		}
		again, problems := ParseHistory(h.Databag())
		require.Empty(t, problems)
		require.Len(t, again[ovndb.NB], len(h[ovndb.NB]))
		for id, k := range h[ovndb.NB] {
			require.Equal(t, k.Unit, again[ovndb.NB][id].Unit)
			require.True(t, k.Removed.Equal(again[ovndb.NB][id].Removed))
		}
		h.Merge(sound)
	})
}

// FuzzParseAddress shows that an accepted text is one host's address and survives a round trip, and that a refusal is
// short.
func FuzzParseAddress(f *testing.F) {
	for _, s := range []string{
		`"10.0.0.1"`, "10.0.0.1", `"[2001:db8::1]"`, "[::1]", "::ffff:1.2.3.4", "fe80::1%eth0",
		`["10.0.0.1"]`, "null", "\x00", `"`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := parseAddress(s)
		if err != nil {
			var refused *AddressError
			require.ErrorAs(t, err, &refused)
			require.Less(t, len(err.Error()), 700) // quotes 60 characters, of which each can take ten bytes
			return
		}
		require.True(t, a.IsValid() && !a.IsUnspecified() && !a.IsMulticast() && a.Zone() == "" && !a.Is4In6(), "%q: %s", s,
			a)
		again, err := parseAddress(FormatAddress(a))
		require.NoError(t, err)
		require.Equal(t, a, again)
		raw, err := parseAddress(a.String())
		require.NoError(t, err)
		require.Equal(t, a, raw)
	})
}

// FuzzParseIssued shows that no answer causes a panic, that a found one is complete, and that no error quotes it.
func FuzzParseIssued(f *testing.F) {
	f.Add("CERT", "KEY", "CA", "CHAIN", "")
	f.Add("", "", "CA", "", `{"juju-0.example.com":{"cert":"CERT","key":"KEY"}}`)
	f.Add("", "", "CA", "", `{"juju-0.example.com":{"cert":1}}`)
	f.Add("CERT", "", "", "", "null")
	f.Fuzz(func(t *testing.T, certificate, key, ca, chain, processed string) {
		const unit = "ovn-central_0"
		issued, found, err := ParseIssued(map[string]string{
			"ca": ca, "chain": chain, unit + ".server.cert": certificate, unit + ".server.key": key, unit +
				".processed_requests": processed,
		}, request)
		if found {
			require.NoError(t, err)
			require.True(t, issued.Certificate != "" && issued.Key != "" && issued.CA != "")
		} else {
			require.Empty(t, issued.Certificate+issued.Key+issued.CA+issued.Chain)
		}
		if err != nil {
			require.ErrorIs(t, err, ErrAnswer)
			require.Less(t, len(err.Error()), 120)
		}
	})
}

// FuzzParseRequest shows that a kept request is written unchanged.
func FuzzParseRequest(f *testing.F) {
	f.Add("juju-0", `["10.0.0.1", "a"]`, "ovn-central_0")
	f.Add("juju-0", `null`, "ovn-central_0")
	f.Add("", `[]`, "")
	f.Fuzz(func(t *testing.T, name, sans, unit string) {
		r, found := ParseRequest("ovn-central/0", map[string]string{"common_name": name, "sans": sans, "unit_name": unit})
		if !found {
			return
		}
		again, found := ParseRequest("ovn-central/0", r.Databag())
		require.True(t, found)
		require.Equal(t, r.Databag(), again.Databag())
		require.Subset(t, r.SANs, again.SANs)
	})
}
