package docs_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A check that finds nothing must be able to find something.
func TestChecksFindWhatIsWrong(t *testing.T) {
	r := repository{
		targets:   map[string]bool{"test": true, "lint": true},
		tests:     map[string]bool{"TestKnown": true},
		params:    map[string]map[string]bool{"kick": {"nb-identity": true, "force": true}},
		documents: map[string]document{},
	}
	tests := map[string]struct {
		check func(repository, document) []string
		text  string
		want  int
	}{
		"targets":                      {unknownTargets, "`make`, `make test`\n\n```\n$ make test lint ARCH=arm64 # both\n```\n", 0},
		"unknown target":               {unknownTargets, "`make tests`", 1},
		"unknown target in a block":    {unknownTargets, "```\nmake test\nmake lint fuzz\n```\n", 1},
		"make as a word":               {unknownTargets, "to make tests pass", 0},
		"actions":                      {unknownActions, "`juju run ovn-central/0 kick nb-identity=13fe force=true` or `juju run-action ovn-central/leader kick --wait`", 0},
		"action in the lab":            {unknownActions, "```\n$ build/ovn-lab run ovn-central/1 kicks\n```\n", 1},
		"unknown action":               {unknownActions, "`juju run ovn-central/0 cluster-kick`", 1},
		"unknown parameter":            {unknownActions, "`juju run ovn-central/0 kick nb-identity=13fe farce=true`", 1},
		"action over two lines":        {unknownActions, "`juju run\novn-central/0 kicks`", 1},
		"command of Juju is no action": {unknownActions, "`juju run --unit ovn-central/0 -- hostname`", 0},
		"tests":                        {unknownTests, "`TestKnown`", 0},
		"unknown test":                 {unknownTests, "`TestKnown`, `TestUnknown`", 1},
		"words named":                  {func(_ repository, d document) []string { return missing(d, []string{"stop"}) }, "the hook `stop`", 0},
		"word not named":               {func(_ repository, d document) []string { return missing(d, []string{"stop"}) }, "the hook stop, or `stops`", 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			d := document{"docs/a.md", test.text}
			r.documents[d.path] = d
			assert.Len(t, test.check(r, d), test.want, "%v", test.check(r, d))
		})
	}
}

func TestRepositoryKnowsTestsAndRules(t *testing.T) {
	r := repository{tests: map[string]bool{}, rules: map[string]bool{}, documents: map[string]document{}}
	r.add("a/b_test.go", "package b\n\nfunc TestThis(t *testing.T) {}\n\nfunc helper() {}\n")
	r.add("a/b.go", "// f keeps rule R9, see rules R1 and R2.\nfunc TestNot() {}\n")
	r.add("a/c.md", "rule R7, TestNeither")
	assert.Equal(t, map[string]bool{"TestThis": true}, r.tests)
	assert.Equal(t, map[string]bool{"R9": true, "R1": true}, r.rules)
	assert.Contains(t, r.documents, "a/c.md")
}
