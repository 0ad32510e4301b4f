package membership

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/present"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// 000-6: the status of three members, then of two and one whose unit is gone. Nothing is changed. Commands are in the
// syntax of the Juju that runs the unit, here 2.9. [labtest.Model.Type] accepts the syntax of Juju 3.
func TestClusterStatus(t *testing.T) {
	m := labtest.DeployWith(t, 3, lab.Options{JujuVersion: "2.9.42"})
	// The text is the specification's example.
	m.Run("shows the unit of each member", func(m *labtest.Model) {
		for _, u := range m.Deployed {
			results := m.Act(u, "cluster-status")
			for _, db := range lab.Databases {
				text := results["ovn"+string(db)]
				assert.NotContains(m.T, text, "last msg")
				for _, other := range m.Deployed {
					line := regexp.MustCompile(`(?m)^    ` + m.ShortID(other, db) + ` \(` + m.ShortID(other, db) + ` at ssl:` +
						regexp.QuoteMeta(other.Address()) + `:664[34]\).* ` + other.Name() + `$`)
					assert.Regexp(m.T, line, text)
				}
			}
			for _, d := range m.Findings(u) {
				assert.Equal(m.T, string(finding.ServerSilent), d.Code, "a busy machine is warned of, and nothing else")
			}
			assert.Regexp(m.T, `(?m)^nb: schema [\d.]+, .*; file .* KiB, `, results["servers"])
			assert.Regexp(m.T, `(?m)^sb: schema `, results["servers"])
			assert.Equal(m.T, "active", u.Workload().Status)
		}
		messages := ""
		for _, u := range m.Deployed {
			messages += u.Workload().Message + "\n"
		}
		ready := regexp.QuoteMeta(strings.TrimSuffix(present.Ready(""), ")"))
		assert.Regexp(m.T, "(?m)^"+ready+`(.*; )?leader: ovn[ns]b_db.*; 3 of 3 up, 1 .*\)$`, messages)
	})

	gone := m.Followers()[0]
	m.RemoveByForce(gone)
	m.RequireDown(gone)
	// The YAML has the keys of the charm that this one replaces.
	m.Run("is a document for programs", func(m *labtest.Model) {
		leader := m.LeaderOf(lab.NB)
		next := m.NextCommands(leader)
		require.Len(m.T, next, 1)
		assert.Regexp(m.T, `^juju run-action ovn-central/\d kick .* --wait$`, next[0])
		type document struct {
			Name    string         `json:"name" yaml:"name"`
			UnitMap map[string]any `json:"unit_map" yaml:"unit_map"`
			Servers [][]string     `json:"servers" yaml:"servers"`
			Timer   int            `json:"election_timer" yaml:"election_timer"`
			Members []struct {
				Identity string `json:"identity" yaml:"identity"`
				ServerID string `json:"server_id" yaml:"server_id"`
				Unit     string `json:"unit" yaml:"unit"`
				Was      string `json:"was_unit" yaml:"was_unit"`
				Up       bool   `json:"up" yaml:"up"`
				Stale    bool   `json:"stale" yaml:"stale"`
			} `json:"members" yaml:"members"`
		}
		for format, decode := range map[string]func([]byte, any) error{"yaml": yaml.Unmarshal, "json": json.Unmarshal} {
			var d document
			results := m.Act(leader, "cluster-status", "format="+format)
			assert.Regexp(m.T, `^nb: 0 .* 3 .*\(2 up\)\nsb: 0 .* 3 .*\(2 up\)\n$`, results["fault-tolerance"])
			require.NoError(m.T, decode([]byte(results["ovnnb"]), &d), format)
			assert.Equal(m.T, "OVN_Northbound", d.Name)
			assert.Equal(m.T, 1000, d.Timer)
			assert.Len(m.T, d.Servers, 3)
			assert.Equal(m.T, m.ShortID(leader, lab.NB), d.UnitMap[leader.Name()])
			assert.Equal(m.T, []any{m.ShortID(gone, lab.NB)}, d.UnitMap["UNKNOWN"])
			for _, row := range d.Members {
				isGone := row.Identity == m.ShortID(gone, lab.NB)
				assert.Equal(m.T, !isGone, row.Up)
				assert.Equal(m.T, isGone, row.Stale)
				if isGone {
					assert.Equal(m.T, gone.Name(), row.Was)
					assert.Equal(m.T, m.ServerID(gone, lab.NB), row.ServerID)
				}
			}
		}
		r, err := m.RunAction(m.T.Context(), leader, "cluster-status", "format=xml")
		require.Error(m.T, err, "%v", r)
	})

	// R16: as long as a unit has not published, a member may belong to it.
	m.Run("calls no member stale before every unit has published", func(m *labtest.Model) {
		silent := m.AddSilent()
		results := m.Act(m.LeaderOf(lab.NB), "cluster-status")
		assert.Contains(m.T, results["ovnnb"], "UNKNOWN (was "+gone.Name()+")")
		assert.Contains(m.T, m.Finds(m.LeaderOf(lab.NB), finding.NotPublished, "").Message, silent.Name())
		m.FindsNone(m.LeaderOf(lab.NB), finding.StaleMember)
	})
}
