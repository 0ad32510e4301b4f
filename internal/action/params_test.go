package action

import (
	"encoding/json"
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

func TestIdentityAsJujuHandsItOver(t *testing.T) {
	tests := map[string]struct {
		value any
		id    raft.IDArgument
		given bool
		fails string
	}{
		"not given":        {nil, raft.IDArgument{}, false, ""},
		"given as nothing": {"", raft.IDArgument{}, false, ""},
		"only spaces":      {"  ", raft.IDArgument{}, false, ""},
		"text":             {"13fe", raft.IDArgument{Text: "13fe"}, true, ""},
		"in capitals":      {" 13FE\n", raft.IDArgument{Text: "13FE"}, true, ""},
		"a UUID":           {"13fe0c1a-4b2d-4e3f-8a5b-6c7d8e9f0a1b", raft.IDArgument{Text: "13fe0c1a-4b2d-4e3f-8a5b-6c7d8e9f0a1b"}, true, ""},
		"integer":          {json.Number("3974"), raft.IDArgument{Text: "3974", Number: true}, true, ""},
		"octal":            {json.Number("15"), raft.IDArgument{Text: "15", Number: true}, true, ""},
		"zero":             {json.Number("0"), raft.IDArgument{Text: "0", Number: true}, true, ""},
		"float":            {json.Number("1.3e+05"), raft.IDArgument{Text: "1.3e+05", Number: true}, true, ""},
		"true":             {true, raft.IDArgument{}, false, "parameter nb-identity can't be used (it is true: it takes a server ID"},
		"a list":           {[]any{"13fe"}, raft.IDArgument{}, false, "parameter nb-identity can't be used (it is [13fe]: it takes a server ID"},
		"an object":        {map[string]any{"a": "b"}, raft.IDArgument{}, false, "parameter nb-identity can't be used (it is map[a:b]: it takes a server ID"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			id, given, err := params{"nb-identity": test.value}.identity("nb-identity")
			if test.fails != "" {
				require.ErrorContains(t, err, test.fails)
			} else {
				require.NoError(t, err)
			}
			assert.Equal(t, test.id, id)
			assert.Equal(t, test.given, given)
		})
	}
}

func TestFlagsAndTextsAreOfTheirType(t *testing.T) {
	t.Parallel()
	p := params{"yes": true, "no": false, "text": " a b ", "number": json.Number("1"), "word": "true"}
	for key, wanted := range map[string]bool{"yes": true, "no": false, "absent": false} {
		got, err := p.flag(key)
		require.NoError(t, err)
		assert.Equal(t, wanted, got, key)
	}
	for _, key := range []string{"number", "word", "text"} {
		got, err := p.flag(key)
		require.ErrorContains(t, err, "it takes true or false", key)
		assert.False(t, got)
	}
	for key, wanted := range map[string]string{"text": "a b", "number": "1", "absent": ""} {
		got, err := p.text(key)
		require.NoError(t, err)
		assert.Equal(t, wanted, got)
	}
	_, err := p.text("yes")
	require.ErrorContains(t, err, "it takes a text")
}

// juju run … give-up=3974 hands over a number: https://pkg.go.dev/github.com/juju/goyaml/v2.
func TestNamesMayBeOneNumber(t *testing.T) {
	t.Parallel()
	p := params{"several": "ovn-central/1, 13e4  3974", "number": json.Number("3974"), "none": " ", "yes": true}
	for key, wanted := range map[string][]raft.IDArgument{
		"several": {{Text: "ovn-central/1"}, {Text: "13e4"}, {Text: "3974"}},
		"number":  {{Text: "3974", Number: true}},
		"none":    nil,
		"absent":  nil,
	} {
		got, err := p.names(key)
		require.NoError(t, err)
		assert.Equal(t, wanted, got, key)
	}
	_, err := p.names("yes")
	require.ErrorContains(t, err, "it takes a text")
}

func TestKickRequestUnderBothNames(t *testing.T) {
	t.Parallel()
	names := map[string]map[ovndb.Database]string{
		"kick":         {ovndb.NB: "nb-identity", ovndb.SB: "sb-identity"},
		"cluster-kick": {ovndb.NB: "nb-server-id", ovndb.SB: "sb-server-id"},
	}
	for action, keys := range names {
		t.Run(action, func(t *testing.T) {
			t.Parallel()
			r, err := kickRequest(params{
				keys[ovndb.NB]: "aa04", keys[ovndb.SB]: json.Number("3974"), "unit": "", "i-really-mean-it": true, "force": false, "dry-run": true,
			}, keys)
			require.NoError(t, err)
			assert.Equal(t, membership.KickRequest{
				IDs:       map[ovndb.Database]raft.IDArgument{ovndb.NB: {Text: "aa04"}, ovndb.SB: {Text: "3974", Number: true}},
				Confirmed: true, DryRun: true,
			}, r)

			r, err = kickRequest(params{"unit": "ovn-central/4", "force": true, keys[ovndb.NB]: ""}, keys)
			require.NoError(t, err)
			assert.Equal(t, membership.KickRequest{IDs: map[ovndb.Database]raft.IDArgument{}, Unit: "ovn-central/4", Permit: raft.PermitForce}, r)
		})
	}
}

// A parameter that is not understood must not pass for one that was not given.
func TestKickRequestOfTheWrongTypeIsRefused(t *testing.T) {
	t.Parallel()
	keys := map[ovndb.Database]string{ovndb.NB: "nb-identity", ovndb.SB: "sb-identity"}
	for key, value := range map[string]any{
		"nb-identity": true, "sb-identity": []any{}, "unit": true,
		"i-really-mean-it": "true", "force": json.Number("1"), "dry-run": "yes",
	} {
		_, err := kickRequest(params{key: value}, keys)
		require.ErrorContains(t, err, "parameter "+key+" can't be used")
	}
}

// Without a format it is the Python charm's document, byte for byte: programs look for a line
// with a service and its reason.
func TestDeferredRestartsAreShownAsProgramsReadThem(t *testing.T) {
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
		{nil, "text", "nothing is held back\n"},
		{one, "text", "restart ovn-northd: Package update\n"},
		{nil, "yaml", "[]"},
		{one, "yaml", "- service: ovn-northd\n  action: restart\n  reason: Package update"},
	} {
		shown, err := deferredOutput(c.pending, c.format)
		require.NoError(t, err)
		assert.Equal(t, c.want, shown, "%v %s", c.pending, c.format)
	}
	shown, err := deferredOutput(all, "")
	require.NoError(t, err)
	assert.Contains(t, shown, "\n  - 0 ovn-central                              Package update", "what stands for all of them")
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
	for _, from := range []string{"20261123T100000", dir + "/20261123T100001Z", near + "/manifest.json"} {
		err := u.noBackup(t.Context(), params{"from": from}, from)
		reasons := finding.Reasons(err)
		require.Len(t, reasons, 1)
		require.NotEmpty(t, reasons[0].Remedies)
		assert.Equal(t, "juju run ovn-central/0 restore from="+near+" dry-run=true", u.Env.Version.Render(reasons[0].Remedies[0].Command), from)
	}
}
