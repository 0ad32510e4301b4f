package labtest

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// Agent is what a unit's agent reports of itself.
type Agent struct {
	Unit, Mode, Acting string
	Acts               bool
	Peers              []struct{ Unit string }
	Northd             string `json:"northd_error"`
	ClusterStatus      struct {
		NB struct {
			Members []struct{ Unit string }
		} `json:"ovnnb"`
	} `json:"cluster_status"`
}

// AgentOf asks a unit's agent. The answer is empty if the agent gives none.
func AgentOf(t *testing.T, u *lab.Unit) (a Agent) {
	t.Helper()
	text, err := u.Exec(t.Context(), "curl", "-s", "--max-time", "2", "http://127.0.0.1:16401/status")
	if err == nil {
		err = json.Unmarshal([]byte(text), &a)
	}
	if err != nil {
		return Agent{}
	}
	return a
}

// ActingUnit waits until one of the units acts and all of them name it.
func ActingUnit(t *testing.T, units ...*lab.Unit) (holder *lab.Unit) {
	t.Helper()
	require.Eventually(t, func() bool {
		holder = nil
		named := map[string]bool{}
		for _, u := range units {
			a := AgentOf(t, u)
			if named[a.Acting] = true; a.Acts {
				holder = u
			}
		}
		return holder != nil && len(named) == 1 && named[holder.Name()]
	}, Patience, 100*time.Millisecond, "not one unit acts")
	return holder
}

// Tool runs ovn-nbctl or ovn-sbctl beside a unit's server.
func Tool(t *testing.T, u *lab.Unit, program string, db lab.DB, args ...string) string {
	t.Helper()
	socket := "unix:" + u.RunDir() + "/ovn" + string(db) + "_db.sock"
	out, err := u.Exec(t.Context(), program, append([]string{"--timeout=20", "--db=" + socket, "--no-leader-only"}, args...)...)
	require.NoError(t, err)
	return strings.TrimSpace(out)
}
