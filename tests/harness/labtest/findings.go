package labtest

import (
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/present"
	"github.com/ovn-central/ovn-central-operator/tests/harness/cluster"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// Findings are what a unit finds wrong now, by its action health.
func (m *Model) Findings(u *lab.Unit) cluster.Findings {
	m.T.Helper()
	all, err := cluster.ReadFindings(m.Act(u, "health", "format=json")["findings"])
	require.NoError(m.T, err, u.Name())
	return all
}

// HasFinding reports whether a unit has a finding about a subject, as [cluster.Findings.Find] has it.
func (m *Model) HasFinding(u *lab.Unit, code finding.Code, subject string) bool {
	m.T.Helper()
	return m.Findings(u).Has(code, subject)
}

// Finds asserts that a unit has a finding about a subject, and returns it.
func (m *Model) Finds(u *lab.Unit, code finding.Code, subject string) present.Document {
	m.T.Helper()
	all := m.Findings(u)
	found, is := all.Find(code, subject)
	assert.True(m.T, is, "%s has no finding %s of %q:\n%s", u.Name(), code, subject, all)
	return found
}

// FindsNone asserts that a unit has no finding with one of the codes.
func (m *Model) FindsNone(u *lab.Unit, codes ...finding.Code) {
	m.T.Helper()
	all := m.Findings(u)
	for _, code := range codes {
		assert.False(m.T, all.Has(code, ""), "%s has a finding %s:\n%s", u.Name(), code, all)
	}
}

// Reason is how a refusal names a reason with these arguments.
func Reason(code finding.Code, args finding.Args) string {
	return finding.New(code, finding.Subject{}, args).Line()
}

// QuorumLost is the reason that up of so many members are up, and fewer would be needed.
func QuorumLost(up, of, upThen, ofThen int) string {
	return Reason(finding.QuorumWouldBeLost, finding.Args{Count: up, Total: of, After: finding.Tally{Up: upThen, Members: ofThen}})
}

// NextCommands are the commands that a unit tells to type now, as [cluster.Findings.Next] has them.
func (m *Model) NextCommands(u *lab.Unit) []string {
	m.T.Helper()
	return m.Findings(u).Next()
}
