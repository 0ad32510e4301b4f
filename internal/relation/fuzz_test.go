package relation

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/foreign"
)

// FuzzDatabag gives every reader of relation data a key and a value that another party wrote. The results of the
// readers are clean (R18), and their texts about malformed data are short.
func FuzzDatabag(f *testing.F) {
	long := strings.Repeat("h", 110_000)
	for _, key := range []string{
		"hostname", "package-source", "certificate-issuer", "trusted-cas", "running-version", "northd", "northd-none-active",
		"northd-none-active-heard", "nb-recovery", "nb-copy", "sb-copy",
		"nb_recovery", "nb-servers", "nb-members", "nb_cid", "nb_superseded", "created-by", "claim-ovn-central-1",
		"bound-address", "ovn-central_0.processed_requests", "common_name", "sans",
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
		clusters, reasons := ParseClusters(bag)
		require.True(t, foreign.IsName(clusters.CreatedBy))
		require.True(t, foreign.IsName(string(ParseClaim(bag, "ovn-central/1"))))
		for _, addresses := range ParseMembers(bag) {
			for _, a := range addresses {
				require.True(t, foreign.IsName(a))
			}
		}
		history, more := ParseHistory(bag)
		reasons = append(reasons, more...)
		for _, servers := range history {
			for _, s := range servers {
				require.True(t, foreign.IsName(s.Unit))
			}
		}
		_, more = ParseIdentities(bag)
		for _, r := range append(reasons, more...) {
			problems = append(problems, r.String())
		}
		if _, err := ParseNagiosHost("ovn-central/0", "", bag); err != nil {
			problems = append(problems, err.Error())
		}
		if _, _, err := ClientAddress(bag); err != nil {
			problems = append(problems, err.Error())
		}
		if _, _, err := ParseIssued(bag, request); err != nil {
			problems = append(problems, err.Error())
		}
		ParseRequest("ovn-central/0", bag)
		ParseAccepted(bag)
		for _, p := range problems {
			require.Equal(t, foreign.Reason(p), p, "it has no control characters")
			require.Less(t, len(p), 700) // it quotes 60 characters, each of which can take ten bytes
		}
	})
}
