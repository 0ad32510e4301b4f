package action

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/backup"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/membership"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

func TestParams_identity(t *testing.T) {
	t.Parallel()
	const uuid = "13fe0c1a-4b2d-4e3f-8a5b-6c7d8e9f0a1b"
	for _, c := range []struct {
		value any
		id    raft.IDArgument
	}{
		{nil, raft.IDArgument{}},
		{"", raft.IDArgument{}},
		{"  ", raft.IDArgument{}},
		{"13fe", raft.IDArgument{Text: "13fe"}},
		{" 13FE\n", raft.IDArgument{Text: "13FE"}},
		{uuid, raft.IDArgument{Text: uuid}},
		{json.Number("3974"), raft.IDArgument{Text: "3974", Number: true}},
		{json.Number("15"), raft.IDArgument{Text: "15", Number: true}}, // octal in YAML
		{json.Number("0"), raft.IDArgument{Text: "0", Number: true}},
		{json.Number("1.3e+05"), raft.IDArgument{Text: "1.3e+05", Number: true}},
	} {
		p := newParams(map[string]any{"nb-identity": c.value})
		id, given := p.identity("nb-identity")
		require.NoError(t, p.err())
		assert.Equal(t, c.id, id)
		assert.Equal(t, c.id.Text != "", given, c.value)
	}
	for _, bad := range []any{true, []any{"13fe"}, map[string]any{"a": "b"}} {
		requireInvalid(t, map[string]any{"nb-identity": bad}, func(p *params) { p.identity("nb-identity") })
	}
}

func TestParams_type_is_checked(t *testing.T) {
	t.Parallel()
	p := newParams(map[string]any{
		"yes": true, "no": false, "text": " a b ", "number": json.Number("1"),
		"several": "ovn-central/1, 13e4  3974", "none": " ",
	})
	assert.True(t, p.flag("yes"))
	assert.False(t, p.flag("no") || p.flag("absent"))
	assert.Equal(t, []string{"a b", "1", ""}, []string{p.text("text"), p.text("number"), p.text("absent")})
	// juju run … give-up=3974 passes a number: https://pkg.go.dev/github.com/juju/goyaml/v2.
	for key, want := range map[string][]raft.IDArgument{
		"several": {{Text: "ovn-central/1"}, {Text: "13e4"}, {Text: "3974"}},
		"number":  {{Text: "1", Number: true}},
		"none":    nil,
		"absent":  nil,
	} {
		assert.Equal(t, want, p.names(key), key)
	}
	require.NoError(t, p.err())
	wrong := asGiven(t, `{"flag, a number": 1, "flag, a text": "true", "text": true, "names": true, "number, a text": "1",
		"number, too small": 1}`)
	requireInvalid(t, wrong, func(p *params) {
		p.flag("flag, a number")
		p.flag("flag, a text")
		p.text("text")
		p.names("names")
		assert.Zero(t, p.number("number, a text", 0, 0, 9))
		assert.Zero(t, p.number("number, too small", 0, 2, 9))
	})
}

func TestKickRequest(t *testing.T) {
	t.Parallel()
	for _, keys := range [][2]string{{"sb-identity", "nb-identity"}, {"sb-server-id", "nb-server-id"}} {
		sb, nb := keys[0], keys[1]
		for _, c := range []struct {
			given map[string]any
			want  membership.KickRequest
		}{
			{map[string]any{
				nb: "aa04", sb: json.Number("3974"), "unit": "", "i-really-mean-it": true, "force": false,
				"dry-run": true,
			}, membership.KickRequest{
				IDs:       map[ovndb.Database]raft.IDArgument{ovndb.NB: {Text: "aa04"}, ovndb.SB: {Text: "3974", Number: true}},
				Confirmed: true, DryRun: true,
			}},
			{map[string]any{"unit": "ovn-central/4", "force": true, nb: ""}, membership.KickRequest{
				IDs: map[ovndb.Database]raft.IDArgument{}, Unit: "ovn-central/4", Permit: raft.PermitForce,
			}},
		} {
			p := newParams(c.given)
			assert.Equal(t, c.want, kickRequest(p, sb, nb))
			require.NoError(t, p.err())
		}
	}
	requireInvalid(t, asGiven(t, `{"nb-identity": true, "sb-identity": [], "unit": true, "i-really-mean-it": "true",
		"force": 1, "dry-run": "yes"}`), func(p *params) { kickRequest(p, "sb-identity", "nb-identity") })
}

// Without a format, the output is the Python charm's document, byte for byte: programs look for lines with a service
// and its reason.
func TestDeferredOutput(t *testing.T) {
	t.Parallel()
	one, all := map[ovndb.Service]string{ovndb.Northd: "Package update"}, map[ovndb.Service]string{}
	for _, service := range plan.RestartOrder() {
		all[service] = "Package update"
	}
	const northd = "  - 0 ovn-northd                               Package update"
	for _, c := range []struct {
		pending      map[ovndb.Service]string
		format, want string
	}{
		{nil, "", "hooks: []\nrestarts: []"},
		{one, "", "hooks: []\nrestarts:\n" + northd},
		{one, "text", "restart ovn-northd: Package update\n"},
		{nil, "yaml", "[]"},
		{one, "yaml", "- service: ovn-northd\n  action: restart\n  reason: Package update"},
	} {
		shown, err := deferredOutput(c.pending, c.format)
		require.NoError(t, err)
		assert.Equal(t, c.want, shown, "%v %s", c.pending, c.format)
	}
	none, err := deferredOutput(nil, "text")
	require.NoError(t, err)
	assert.NotContains(t, none, "restart ")
	shown, err := deferredOutput(all, "")
	require.NoError(t, err)
	assert.Contains(t, shown, "\n  - 0 ovn-central                              Package update",
		"the umbrella service represents all")
}

func TestRestore_without_such_a_backup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	near := filepath.Join(dir, "20261123T100000Z")
	require.NoError(t, os.Mkdir(near, 0o700))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "20261124T113012Z"), 0o700))
	u := unit(t, new(agent))
	u.Backup = &backup.Service{Files: u.Files}
	u.Backup.Files.Paths.Backups = dir
	damaged := finding.Refuse([]finding.Finding{finding.Of(finding.RecoveryDataUnusable, ovndb.NB, finding.Args{})})
	for _, from := range []string{"20261123T100000", dir + "/20261123T100001Z", near + "/manifest.json"} {
		err := u.noBackup(t.Context(), newParams(map[string]any{"from": from}), from)
		reasons := finding.Reasons(err)
		require.Len(t, reasons, 1)
		require.NotEmpty(t, reasons[0].Remedies)
		assert.Equal(t, "juju run ovn-central/0 restore from="+near+" dry-run=true",
			u.Env.Version.Render(reasons[0].Remedies[0].Command), from)
		p := newParams(map[string]any{"from": from})
		assert.Equal(t, reasons, finding.Reasons(u.orOther(t.Context(), p, from, damaged)))
	}

	// A backup that can't be used: its manifest is damaged, or the data are.
	bad := filepath.Join(dir, "20261123T100009Z")
	manifest := filepath.Join(bad, "manifest.json")
	require.NoError(t, os.Mkdir(bad, 0o700))
	require.NoError(t, os.WriteFile(manifest, []byte("{"), 0o600))
	for _, refusal := range []error{errors.New("cannot read the manifest"), damaged} {
		reasons := finding.Reasons(u.orOther(t.Context(), newParams(map[string]any{"from": bad}), bad, refusal))
		require.Len(t, reasons, 1)
		require.Len(t, reasons[0].Remedies, 2)
		assert.Equal(t, "juju run ovn-central/0 restore from="+near+" dry-run=true",
			u.Env.Version.Render(reasons[0].Remedies[0].Command))
		assert.Equal(t, "juju run ovn-central/0 backups", u.Env.Version.Render(reasons[0].Remedies[1].Command))
	}
}
