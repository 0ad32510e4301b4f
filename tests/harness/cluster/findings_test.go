package cluster

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
)

func TestFindings(t *testing.T) {
	all, err := ReadFindings(`[
		{"code": "MEMBER_DOWN", "severity": "warning", "subject": "nb sb ovn-central/12", "message": "down", "remedies": [
			{"deed": "start the machine of ovn-central/12"},
			{"when": "if ovn-central/12 is lost for good", "commands": ["juju remove-unit --force ovn-central/12", "juju add-unit ovn-central"]}]},
		{"code": "STALE_MEMBER", "severity": "warning", "subject": "sb ovn-central/4", "message": "stale", "remedies": [
			{"commands": ["juju run ovn-central/0 kick unit=ovn-central/4 i-really-mean-it=true"]}]}]`)
	require.NoError(t, err)
	for subject, want := range map[string]bool{
		"": true, "nb": true, "sb nb": true, "ovn-central/12": true, "nb ovn-central/12": true, "ovn-central/1": false, "nb ovn-central/4": false,
	} {
		assert.Equal(t, want, all.Has(finding.MemberDown, subject), subject)
	}
	assert.False(t, all.Has(finding.StaleMember, "nb"))
	assert.Equal(t, []string{"juju run ovn-central/0 kick unit=ovn-central/4 i-really-mean-it=true"}, all.Next(), "no deed, and nothing under a condition")
	down, is := all.Find(finding.MemberDown, "")
	require.True(t, is)
	assert.Equal(t, []string{"juju remove-unit --force ovn-central/12", "juju add-unit ovn-central"}, Commands(down))

	for _, results := range []any{nil, "", "no document"} {
		_, err := ReadFindings(results)
		assert.Error(t, err, "%v", results)
	}
}
