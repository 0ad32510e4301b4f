package lab_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/lab"
)

func TestActionArgumentsAreReadAsJujuReadsThem(t *testing.T) {
	l, units := withUnits(t, 1, true, scripts{"show": `action-set all="$(action-get --format=json)"`})
	tests := []struct {
		arg     string
		id      string // as the charm gets it, JSON
		all     string
		refused string
	}{
		{arg: "sb-identity=3974", id: "3974"},
		{arg: "sb-identity=0017", id: "15"},
		{arg: "sb-identity=0b11", id: "3"},
		{arg: "sb-identity=0089", id: `"0089"`},
		{arg: "sb-identity=13e4", id: `"13e4"`},
		{arg: "sb-identity=1e10", id: `"1e10"`},
		{arg: "sb-identity=13fe", id: `"13fe"`},
		{arg: `sb-identity="3974"`, id: `"3974"`},
		{arg: "sb-identity=12345678", id: "12345678"},
		{arg: "sb-identity=1.5", id: "1.5"},
		{arg: "sb-identity=", id: `""`},
		{arg: "sb-identity=true", refused: "validation failed: (root).sb-identity : must be of type [string,integer,number], given true"},
		{arg: "text=3974", refused: "validation failed: (root).text : must be of type string, given 3974"},
		{arg: "sure=yes", all: `{"deep":{"down":"there"},"sure":true}`},
		{arg: "sure=maybe", refused: `validation failed: (root).sure : must be of type boolean, given "maybe"`},
		{arg: "text=a=b", all: `{"deep":{"down":"there"},"sure":false,"text":"a=b"}`},
		{arg: "deep.a.b=[1, x]", all: `{"deep":{"a":{"b":[1,"x"]},"down":"there"},"sure":false}`},
		{arg: "nope=1", refused: `validation failed: (root) : additional property "nope" is not allowed, given {"nope":1}`},
		{arg: "text", refused: `argument "text" must be of the form key.key.key...=value`},
		{arg: "Text=1", refused: `key "Text" must start and end with lowercase alphanumeric, and contain only lowercase alphanumeric and hyphens`},
		{arg: "i_d=1", refused: `key "i_d" must start and end with lowercase alphanumeric, and contain only lowercase alphanumeric and hyphens`},
	}
	for _, test := range tests {
		t.Run(test.arg, func(t *testing.T) {
			result, err := l.RunAction(ctx(t), units[0], "show", test.arg)
			if test.refused != "" {
				require.EqualError(t, err, test.refused)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, "completed", result.Status)
			want := test.all
			if want == "" {
				want = `{"deep":{"down":"there"},"sb-identity":` + test.id + `,"sure":false}`
			}
			assert.JSONEq(t, want, result.Results["all"])
		})
	}
}

func TestActionEndsAsJujuSaysItDoes(t *testing.T) {
	l, units := withUnits(t, 1, true, nil)
	tests := map[string]struct {
		script string
		want   lab.ActionResult
	}{
		"results, log and output": {
			`action-log one; action-set a.b=1 "text=x
y"; echo out; echo err >&2; action-log two`,
			lab.ActionResult{
				Status: "completed", Log: []string{"one", "two"},
				Results: map[string]string{"a.b": "1", "text": "x\ny", "return-code": "0", "stdout": "out\n", "stderr": "err\n"},
			},
		},
		"action-fail keeps its message where the exit code is 0": {
			`action-set why=1; action-fail "too bad"`,
			lab.ActionResult{Status: "failed", Message: "too bad", Results: map[string]string{"why": "1", "return-code": "0"}},
		},
		"another exit code loses it": {
			`action-fail "too bad"; exit 4`,
			lab.ActionResult{Status: "failed", Message: "exit status 4", Results: map[string]string{"return-code": "4"}},
		},
		"what isn't text is encoded": {
			`printf '\377\n'`,
			lab.ActionResult{Status: "completed", Results: map[string]string{"return-code": "0", "stdout": "/wo=", "stdout-encoding": "base64"}},
		},
		"hook name is empty, action's variables are set": {
			`action-set "env=${JUJU_HOOK_NAME-unset}|$JUJU_DISPATCH_PATH|$JUJU_ACTION_NAME|${JUJU_ACTION_TAG%-*}"`,
			lab.ActionResult{Status: "completed", Results: map[string]string{"env": "|actions/run|run|action", "return-code": "0"}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			on(t, units[0], "run", test.script)
			got, err := l.RunAction(ctx(t), units[0], "run")
			require.NoError(t, err)
			assert.NotEmpty(t, got.ID)
			got.ID = ""
			assert.Equal(t, test.want, got)
			assert.Equal(t, "idle", units[0].Agent().Status, "no action puts a unit into error")
		})
	}
}

func TestActionKeepsItsWritesOnlyWhereItSucceeds(t *testing.T) {
	l, units := withUnits(t, 2, true, nil)
	on(t, units[0], "run", `relation-set -r ovsdb-peer:1 a=1; exit 1`)
	_, err := l.RunAction(ctx(t), units[0], "run")
	require.NoError(t, err)
	assert.NotContains(t, units[0].Data(), "a")
	on(t, units[0], "run", `relation-set -r ovsdb-peer:1 a=1; action-fail no`)
	_, err = l.RunAction(ctx(t), units[0], "run")
	require.NoError(t, err)
	assert.Equal(t, "1", units[0].Data()["a"])
	assert.Equal(t, "ovsdb-peer-relation-changed ovn-central/0", units[1].Hooks()[len(units[1].Hooks())-1])
}

func TestActionsRunOnUnitsInErrorAndNotOnThoseThatAreGone(t *testing.T) {
	l, units := withUnits(t, 3, true, scripts{"stop": "exit 1"})
	require.Error(t, l.RemoveUnit(ctx(t), units[0], lab.RemoveOptions{}))
	result, err := l.RunAction(ctx(t), units[0], "run")
	require.NoError(t, err)
	assert.Equal(t, "completed", result.Status)
	_, err = l.RunAction(ctx(t), units[0], "nope")
	require.EqualError(t, err, `action "nope" not defined on unit "ovn-central/0"`)
	require.NoError(t, units[1].PowerOff())
	_, err = l.RunAction(ctx(t), units[1], "run")
	require.ErrorIs(t, err, lab.ErrLost)
	require.NoError(t, l.RemoveUnit(ctx(t), units[2], lab.RemoveOptions{Force: true}))
	_, err = l.RunAction(ctx(t), units[2], "run")
	require.Error(t, err)
}
