package hooktool

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/tests/lab/internal/model"
)

var since = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// newModel has three units; ovn-central/0 leads and knows both others, of which
// /2 is dying.
func newModel() *model.Model {
	s := &model.State{
		App: "ovn-central", JujuVersion: "3.6.11", LeaderVersion: 1, LeaderSettings: map[string]string{"l": "1"}, Config: map[string]any{"interval": 7},
		Units: map[string]*model.Unit{}, AppStatus: model.Status{Status: "active"},
		Relations: []*model.Relation{{
			ID: 1, Name: "ovsdb-peer", App: model.Bag{Settings: map[string]string{"app": "data"}}, Units: map[string]*model.Bag{},
		}},
	}
	for range 3 {
		u := s.AddUnit("127.1.2.3")
		u.Workload = model.Status{Status: "active", Message: "ready", Since: since}
		u.Agent = model.Status{Status: "idle", Since: since}
		u.Ports = []string{"6641/tcp"}
		u.Charm = map[string]string{"kept": "yes"}
		s.Relations[0].Units[u.Name] = &model.Bag{InScope: true, Settings: map[string]string{"name": u.Name, "sb-identity": "0017"}}
		u.Uniter.Relations[1] = &model.Membership{Created: true, Peer: true, Members: map[string]int{}, Seen: map[string]map[string]string{}}
	}
	s.Units["ovn-central/0"].Uniter.Relations[1].Members = map[string]int{"ovn-central/1": 1, "ovn-central/2": 1}
	s.Destroy("ovn-central/2")
	return model.New(os.TempDir(), s)
}

func newTestContext(unit string, h model.Hook) *Context {
	c := New(newModel(), unit, h)
	c.Charm = Charm{Bindings: []string{"ovsdb-peer", "ovsdb"}, Options: map[string]any{"interval": 5, "unset": nil}}
	return c
}

var changed = model.Hook{Kind: "relation-changed", RelationID: 1, Relation: "ovsdb-peer", RemoteUnit: "ovn-central/1", RemoteApp: "ovn-central"}

func newAction() *Action {
	return &Action{Results: map[string]any{}, Params: map[string]any{"id": float64(3974), "deep": map[string]any{"a": "b"}}}
}

func TestToolsAnswerAsJujuDoes(t *testing.T) {
	departed := changed
	departed.Kind, departed.Departing = "relation-departed", "ovn-central/1"
	broken := model.Hook{Kind: "relation-broken", RelationID: 1, Relation: "ovsdb-peer", RemoteApp: "ovn-central"}
	minion, leader := "ovn-central/1", "ovn-central/0"
	tests := []struct {
		unit   string
		hook   model.Hook
		call   string // words; ~ stands for a space
		code   int
		output string // stdout, or stderr where code isn't 0
	}{
		{unit: leader, call: "is-leader --format=json", output: "true\n"},
		{unit: leader, call: "is-leader", output: "True\n"},
		{unit: minion, call: "is-leader --format yaml", output: "false\n"},
		{unit: minion, call: "is-leader --format=xml", code: 2, output: `ERROR invalid value "xml" for option --format: unknown format "xml"`},
		{unit: minion, call: "is-leader x", code: 2, output: `ERROR unrecognized args: ["x"]`},
		{unit: minion, call: "is-leader -x", code: 2, output: `ERROR option provided but not defined: -x`},
		{unit: minion, call: "is-leader --format", code: 2, output: `ERROR option needs an argument: --format`},

		{unit: leader, call: "relation-ids ovsdb-peer --format=json", output: `["ovsdb-peer:1"]` + "\n"},
		{unit: leader, call: "relation-ids nope --format=json", output: "[]\n"},
		{unit: leader, call: "relation-ids", code: 2, output: "ERROR no endpoint name specified"},
		{unit: leader, hook: changed, call: "relation-ids", output: "ovsdb-peer:1\n"},
		{unit: leader, hook: broken, call: "relation-ids ovsdb-peer --format=json", output: `["ovsdb-peer:1"]` + "\n"},

		{unit: leader, call: "relation-list -r ovsdb-peer:1 --format=json", output: `["ovn-central/1","ovn-central/2"]` + "\n"},
		{unit: leader, call: "relation-list -r1", output: "ovn-central/1\novn-central/2\n"},
		{unit: leader, hook: departed, call: "relation-list --format=json", output: `["ovn-central/2"]` + "\n"},
		{unit: minion, call: "relation-list -r ovsdb-peer:1 --format=json", output: "[]\n"},
		{unit: leader, call: "relation-list -r 1 --app --format=json", output: `"ovn-central"` + "\n"},
		{unit: leader, call: "relation-list", code: 2, output: "ERROR no relation id specified"},
		{unit: leader, call: "relation-list -r ovsdb-peer:7", code: 2, output: `ERROR invalid value "ovsdb-peer:7" for option -r: relation not found`},
		{unit: leader, call: "relation-list -r x", code: 2, output: `ERROR invalid value "x" for option -r: invalid relation id`},

		{unit: leader, call: "relation-get -r 1 - ovn-central/1 --format=json", output: `{"name":"ovn-central/1","sb-identity":"0017"}` + "\n"},
		{unit: leader, hook: changed, call: "relation-get sb-identity", output: "0017\n"},
		{unit: leader, hook: changed, call: "relation-get nope --format=json", output: "null\n"},
		{unit: leader, hook: changed, call: "relation-get nope", output: ""},
		{
			unit: leader, call: "relation-get -r 1 - ovn-central/9", code: 1,
			output: `ERROR cannot read settings for unit "ovn-central/9" in relation "ovn-central:ovsdb-peer": unit "ovn-central/9": settings not found`,
		},
		{unit: leader, call: "relation-get -r 1 -", code: 2, output: "ERROR no unit or application specified"},
		{unit: leader, call: "relation-get -r 1 - ovn-central", code: 2, output: `ERROR expected unit name, got application name "ovn-central"`},
		{unit: leader, call: "relation-get -r 1 - Bad/x", code: 2, output: `ERROR invalid unit name "Bad/x"`},
		{unit: leader, call: "relation-get -r 1 --app - ovn-central --format=json", output: `{"app":"data"}` + "\n"},
		{unit: minion, call: "relation-get -r 1 --app app ovn-central/1", output: "data\n"},
		{unit: minion, call: "relation-set -r 1 --app a=b", code: 1, output: "ERROR cannot write relation settings"},
		{unit: minion, call: "relation-set -r 1 ab", code: 2, output: `ERROR expected "key=value", got "ab"`},
		{unit: minion, call: "relation-set a=b", code: 2, output: "ERROR no relation id specified"},
		{unit: minion, call: "relation-set -r 1 a=b a=c", code: 2, output: `ERROR key "a" specified more than once`},

		{unit: leader, call: "config-get --format=json", output: `{"interval":7}` + "\n"},
		{unit: leader, call: "config-get --all --format=json", output: `{"interval":7,"unset":null}` + "\n"},
		{unit: leader, call: "config-get interval", output: "7\n"},
		{unit: leader, call: "config-get unset --format=json", output: "null\n"},
		{unit: leader, call: "config-get -a interval", code: 2, output: `ERROR cannot use argument --all together with key "interval"`},

		{unit: leader, call: "leader-get l", output: "1\n"},
		{unit: minion, call: "leader-get --format=json", output: `{"l":"1"}` + "\n"},
		{unit: leader, call: "leader-set a=1", output: ""},
		{unit: minion, call: "leader-set a=1", code: 1, output: "ERROR cannot write leadership settings: cannot write settings: not the leader"},

		{unit: leader, call: "unit-get private-address", output: "127.1.2.3\n"},
		{unit: leader, call: "unit-get nope", code: 2, output: `ERROR unknown setting "nope"`},
		{unit: leader, call: "network-get ovsdb-peer --bind-address --format=json", output: `"127.1.2.3"` + "\n"},
		{unit: leader, call: "network-get ovsdb-peer --format=json", output: `{"bind-addresses":[{"mac-address":"","interface-name":"lo",` +
			`"addresses":[{"hostname":"","value":"127.1.2.3","cidr":"127.0.0.0/8"}]}],"egress-subnets":["127.1.2.3/32"],"ingress-addresses":["127.1.2.3"]}` + "\n"},
		{unit: leader, call: "network-get nope", code: 1, output: `ERROR no network config found for binding "nope"`},
		{unit: leader, call: "network-get", code: 2, output: "ERROR no arguments specified"},

		{unit: leader, call: "goal-state --format=json", output: `{"units":{"ovn-central/0":{"status":"active","since":"2026-01-01 00:00:00Z"},` +
			`"ovn-central/1":{"status":"active","since":"2026-01-01 00:00:00Z"},"ovn-central/2":{"status":"dying","since":"2026-01-01 00:00:00Z"}},"relations":{}}` + "\n"},
		{unit: leader, call: "goal-state --format=smart", code: 2, output: `ERROR invalid value "smart" for option --format: unknown format "smart"`},

		{unit: leader, call: "status-set active well~done", output: ""},
		{unit: leader, call: "status-set error", code: 2, output: `ERROR invalid status "error", expected one of [maintenance blocked waiting active]`},
		{unit: leader, call: "status-set", code: 2, output: "ERROR invalid args, require <status> [message]"},
		{unit: minion, call: "status-set --application active", code: 1, output: "ERROR this unit is not the leader"},
		{unit: leader, call: "status-get", output: "active\n"},
		{unit: leader, call: "status-get --include-data --format=json", output: `{"message":"ready","status":"active","status-data":{}}` + "\n"},

		{unit: leader, call: "state-get kept", output: "yes\n"},
		{unit: leader, call: "state-get nope --format=json", output: `""` + "\n"},
		{unit: leader, call: "state-delete", output: ""},
		{unit: leader, call: "state-delete a b", code: 2, output: `ERROR unrecognized args: ["b"]`},
		{unit: leader, call: "state-get nope --strict", code: 1, output: `ERROR "nope" not found`},
		{unit: leader, call: "state-set " + strings.Repeat("k", 257) + "=1", code: 1, output: "ERROR max allowed key length (256) exceeded"},
		{unit: leader, call: "state-set k=" + strings.Repeat("v", 65537), code: 1, output: "ERROR max allowed value length (65536) exceeded"},

		{unit: leader, call: "open-port 6642", output: ""},
		{unit: leader, call: "open-port 99999", code: 2, output: "ERROR port range bounds must be between 0 and 65535, got 99999-99999"},
		{unit: leader, call: "open-port x", code: 2, output: `ERROR invalid port "x": strconv.Atoi: parsing "x": invalid syntax`},
		{unit: leader, call: "opened-ports --format=json", output: `["6641/tcp"]` + "\n"},
		{unit: leader, call: "application-version-set 23.03", output: ""},
		{unit: leader, call: "application-version-set", code: 2, output: "ERROR no version specified"},
		{unit: leader, call: "juju-log -l WARNING -- -x", output: ""},
		{unit: leader, call: "juju-log", code: 2, output: "ERROR no message specified"},

		{unit: leader, call: "action-get", code: 1, output: "ERROR not running an action"},
		{unit: leader, call: "action-log hello", code: 1, output: "ERROR not running an action"},
		{unit: leader, call: "storage-get", code: 1, output: "ERROR bad request: unknown command: storage-get"},
	}
	for _, test := range tests {
		t.Run(test.unit+" "+test.hook.Kind+" "+test.call[:min(60, len(test.call))], func(t *testing.T) {
			words := strings.Fields(test.call)
			for i := range words {
				words[i] = strings.ReplaceAll(words[i], "~", " ")
			}
			got := newTestContext(test.unit, test.hook).Run(Request{Dir: "/", Name: words[0], Args: words[1:]})
			assert.Equal(t, test.code, got.Code, "%s%s", got.Stdout, got.Stderr)
			if test.code == 0 {
				assert.Equal(t, test.output, string(got.Stdout))
				assert.Empty(t, string(got.Stderr))
			} else {
				assert.Equal(t, test.output+"\n", string(got.Stderr))
				assert.Empty(t, string(got.Stdout))
			}
		})
	}
}

func TestActionTools(t *testing.T) {
	tests := map[string]struct {
		call   []string
		code   int
		output string
		want   func(*testing.T, *Action)
	}{
		"one parameter":            {call: []string{"action-get", "id", "--format=json"}, output: "3974\n"},
		"all parameters":           {call: []string{"action-get", "--format=json"}, output: `{"deep":{"a":"b"},"id":3974}` + "\n"},
		"nested parameter":         {call: []string{"action-get", "deep.a"}, output: "b\n"},
		"missing parameter":        {call: []string{"action-get", "nope", "--format=json"}, output: "null\n"},
		"nested in what is no map": {call: []string{"action-get", "id.x", "--format=json"}, output: "null\n"},
		"nested results": {call: []string{"action-set", "ovnsb.text=a\nb", "ovnsb.next=c=d", "x="}, want: func(t *testing.T, a *Action) {
			assert.Equal(t, map[string]any{"ovnsb": map[string]any{"text": "a\nb", "next": "c=d"}, "x": ""}, a.Results)
		}},
		"underscore in a key": {
			call: []string{"action-set", "fault_tolerance=1"}, code: 2,
			output: `ERROR key "fault_tolerance" must start and end with lowercase alphanumeric, and contain only lowercase alphanumeric and hyphens`,
		},
		"capital in a key":   {call: []string{"action-set", "Key=1"}, code: 2, output: `ERROR key "Key" must start`},
		"reserved key":       {call: []string{"action-set", "stdout=1"}, code: 2, output: `ERROR cannot set reserved action key "stdout"`},
		"no value":           {call: []string{"action-set", "key"}, code: 2, output: `ERROR argument "key" must be of the form key...=value`},
		"fail with a reason": {call: []string{"action-fail", "too bad"}, want: func(t *testing.T, a *Action) { assert.Equal(t, "too bad", a.Message) }},
		"fail without":       {call: []string{"action-fail"}, want: func(t *testing.T, a *Action) { assert.True(t, a.Failed) }},
		"fail with two":      {call: []string{"action-fail", "too", "bad"}, code: 2, output: `ERROR unrecognized args: ["bad"]`},
		"log joins words":    {call: []string{"action-log", "half", "way"}, want: func(t *testing.T, a *Action) { assert.Equal(t, []string{"half way"}, a.Log) }},
		"log without words":  {call: []string{"action-log"}, code: 2, output: "ERROR no message specified"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := newTestContext("ovn-central/0", model.Hook{})
			c.Action = newAction()
			got := c.Run(Request{Dir: "/", Name: test.call[0], Args: test.call[1:]})
			assert.Equal(t, test.code, got.Code)
			if test.code == 0 {
				assert.Equal(t, test.output, string(got.Stdout))
			} else {
				assert.Contains(t, string(got.Stderr), test.output)
			}
			if test.want != nil {
				test.want(t, c.Action)
			}
		})
	}
}

func TestWritesWaitForCommitAndAreSeenByTheWriter(t *testing.T) {
	c := newTestContext("ovn-central/0", changed)
	must := func(words ...string) string {
		got := c.Run(Request{Dir: "/", Name: words[0], Args: words[1:]})
		assert.Equal(t, 0, got.Code, "%s", got.Stderr)
		return string(got.Stdout)
	}
	must("relation-set", "mine=1", "sb-identity=")
	must("relation-set", "--app", "ours=1")
	must("state-set", "new=1")
	must("state-delete", "kept")
	must("open-port", "6642/tcp")
	must("close-port", "6641")
	must("leader-set", "soon=1")
	must("status-set", "blocked")
	assert.JSONEq(t, `{"mine":"1","name":"ovn-central/0"}`, must("relation-get", "--format=json", "-", "ovn-central/0"))
	assert.JSONEq(t, `{"app":"data","ours":"1"}`, must("relation-get", "--format=json", "--app", "-", "ovn-central"))
	assert.JSONEq(t, `{"new":"1"}`, must("state-get", "--format=json"))

	look := func() (unit, app, state map[string]string, ports []string) {
		c.Model.Do(func(s *model.State) {
			u := s.Units["ovn-central/0"]
			unit, app, state, ports = s.Relations[0].Units[u.Name].Settings, s.Relations[0].App.Settings, u.Charm, u.Ports
			assert.Equal(t, "blocked", u.Workload.Status, "at once")
			assert.Equal(t, "1", s.LeaderSettings["soon"], "at once")
		})
		return unit, app, state, ports
	}
	unit, app, state, ports := look()
	assert.Equal(t, map[string]string{"name": "ovn-central/0", "sb-identity": "0017"}, unit)
	assert.Equal(t, map[string]string{"app": "data"}, app)
	assert.Equal(t, map[string]string{"kept": "yes"}, state)
	assert.Equal(t, []string{"6641/tcp"}, ports)
	c.Commit()
	unit, app, state, ports = look()
	assert.Equal(t, map[string]string{"name": "ovn-central/0", "mine": "1"}, unit)
	assert.Equal(t, map[string]string{"app": "data", "ours": "1"}, app)
	assert.Equal(t, map[string]string{"new": "1"}, state)
	assert.Equal(t, []string{"6642/tcp"}, ports)
}

func TestFilesOfSettings(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	assert.NoError(t, os.WriteFile(file, []byte("a: '13e4'\nb: x\n"), 0o600))
	input := []byte(`{"sb-identity":"0017","a":"b=c","gone":""}`)
	tests := map[string]struct {
		args  []string
		stdin *[]byte
		need  bool
		want  map[string]string
		fails string
	}{
		"asks for its input":      {args: []string{"--file", "-"}, need: true},
		"reads JSON as strings":   {args: []string{"--file=-"}, stdin: &input, want: map[string]string{"sb-identity": "0017", "a": "b=c"}},
		"reads a YAML file":       {args: []string{"--file", file}, want: map[string]string{"a": "13e4", "b": "x"}},
		"arguments win":           {args: []string{"--file", file, "b=y"}, want: map[string]string{"a": "13e4", "b": "y"}},
		"a file that isn't there": {args: []string{"--file", file + "x"}, fails: "no such file"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := newTestContext("ovn-central/0", changed)
			got := c.Run(Request{Dir: "/", Name: "relation-set", Args: test.args, Stdin: test.stdin})
			assert.Equal(t, test.need, got.NeedStdin)
			if test.fails != "" {
				assert.Equal(t, 1, got.Code)
				assert.Contains(t, string(got.Stderr), test.fails)
				return
			}
			assert.Equal(t, 0, got.Code, "%s", got.Stderr)
			c.Commit()
			c.Model.Do(func(s *model.State) {
				for key, value := range test.want {
					assert.Equal(t, value, s.Relations[0].Units["ovn-central/0"].Settings[key])
				}
				assert.NotContains(t, s.Relations[0].Units["ovn-central/0"].Settings, "gone")
			})
		})
	}
}

func TestMembersDataIsKeptUntilTheirNextHook(t *testing.T) {
	m := newModel()
	read := func(h model.Hook) string {
		m.Do(func(s *model.State) { s.Begin("ovn-central/0", h) })
		got := New(m, "ovn-central/0", h).Run(Request{Dir: "/", Name: "relation-get", Args: []string{"-r", "1", "k", "ovn-central/1"}})
		return string(got.Stdout)
	}
	write := func(value string) {
		m.Do(func(s *model.State) { s.Relations[0].Units["ovn-central/1"].Write(map[string]string{"k": value}) })
	}
	write("old")
	assert.Equal(t, "old\n", read(model.Hook{Kind: "update-status"}))
	write("new")
	assert.Equal(t, "old\n", read(model.Hook{Kind: "update-status"}), "the agent's cache")
	assert.Equal(t, "new\n", read(changed))
}

func TestLogNamesTheRelation(t *testing.T) {
	c := newTestContext("ovn-central/0", changed)
	var got []string
	c.Log = func(level, message string) { got = append(got, level+" "+message) }
	c.Run(Request{Dir: "/", Name: "juju-log", Args: []string{"-l", "debug", "two", "words"}})
	c.Run(Request{Dir: "/", Name: "juju-log", Args: []string{"-l", "LOUD", "x"}})
	assert.Equal(t, []string{"DEBUG ovsdb-peer:1: two words", `WARNING Specified log level of "LOUD" is not valid`, "INFO ovsdb-peer:1: x"}, got)
}

func TestOtherVersionsAnswerDifferently(t *testing.T) {
	tests := map[string]struct {
		version, call string
		code          int
		output        string
	}{
		"2.9 reads an application's data by its name alone": {"2.9.42", "relation-get -r 1 - ovn-central --format=json", 0, `{"app":"data"}` + "\n"},
		"2.9 leaves a bad name to the reader":               {"2.9.42", "relation-get -r 1 - Bad/x", 1, `ERROR "Bad/x" is not a valid unit or application` + "\n"},
		"2.9 has no port 0":                                 {"2.9.42", "open-port 0", 2, "ERROR port range bounds must be between 1 and 65535, got 0-0\n"},
		"3 has":                                             {"3.5.0", "open-port 0", 0, ""},
		"2.9 bounds of a range":                             {"2.9.42", "open-port 1-99999", 2, "ERROR port range bounds must be between 1 and 65535, got 1-99999\n"},
		"before 3.6 an endpoint is a relation":              {"3.5.0", "relation-ids", 2, "ERROR no relation name specified\n"},
		"before 3.6 keys have periods":                      {"2.9.42", "action-set K=1", 2, `ERROR key "K" must start and end with lowercase alphanumeric, and contain only lowercase alphanumeric, hyphens and periods` + "\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := newModel()
			m.Do(func(s *model.State) { s.JujuVersion = test.version })
			c := New(m, "ovn-central/0", model.Hook{})
			words := strings.Fields(test.call)
			got := c.Run(Request{Dir: "/", Name: words[0], Args: words[1:]})
			assert.Equal(t, test.code, got.Code)
			assert.Equal(t, test.output, string(got.Stdout)+string(got.Stderr))
		})
	}
}

func TestJuju4HasNoLeaderSettings(t *testing.T) {
	assert.Contains(t, NamesIn(model.WaysOf("3.6.11")), "leader-get")
	assert.NotContains(t, NamesIn(model.WaysOf("4.0.1")), "leader-get")
	assert.NotContains(t, NamesIn(model.WaysOf("4.0.1")), "leader-set")
	assert.Contains(t, NamesIn(model.WaysOf("4.0.1")), "is-leader")
}

func TestRelationThatGoesIsListedUntilAllHaveDeparted(t *testing.T) {
	ids := func(version string, members int) string {
		m := newModel()
		m.Do(func(s *model.State) {
			s.JujuVersion = version
			r := s.Relate("ovsdb", "neutron", 1)
			member := &model.Membership{Created: true, Members: map[string]int{}}
			if members > 0 {
				member.Members["neutron/0"] = 1
			}
			s.Units["ovn-central/0"].Uniter.Relations[r.ID] = member
			r.Dying = true
		})
		got := New(m, "ovn-central/0", model.Hook{}).Run(Request{Dir: "/", Name: "relation-ids", Args: []string{"ovsdb", "--format=json"}})
		return string(got.Stdout)
	}
	assert.Equal(t, "[\"ovsdb:2\"]\n", ids("3.6.11", 1))
	assert.Equal(t, "[]\n", ids("3.6.11", 0))
	assert.Equal(t, "[\"ovsdb:2\"]\n", ids("3.5.0", 0))
}
