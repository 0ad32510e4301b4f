package docs_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// document is one Markdown file.
type document struct{ path, text string }

var (
	fence   = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	span    = regexp.MustCompile("`[^`]+`")
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	dropped = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	// An action as Juju and the lab take it: UNIT ACTION [KEY=VALUE...].
	run   = regexp.MustCompile(`\b(?:juju run|juju run-action|ovn-lab run)(?: ovn-central/\w+)+ ([a-z][\w-]*)((?: [a-z][\w-]*=\S+)*)`)
	param = regexp.MustCompile(` ([a-z][\w-]*)=`)
)

// prose is the document without its blocks of code.
func (d document) prose() string { return fence.ReplaceAllString(d.text, "") }

// code are the lines of its blocks of code, and its code spans.
func (d document) code() []string {
	var all []string
	for _, block := range fence.FindAllString(d.text, -1) {
		lines := strings.Split(block, "\n")
		all = append(all, lines[1:len(lines)-1]...)
	}
	for _, s := range span.FindAllString(d.prose(), -1) {
		all = append(all, strings.Join(strings.Fields(strings.Trim(s, "`")), " "))
	}
	return all
}

// anchors are what a link can name in the document after a #, as GitHub makes
// them of headings.
func (d document) anchors() []string {
	var all []string
	for _, m := range heading.FindAllStringSubmatch(d.prose(), -1) {
		text := strings.ToLower(dropped.ReplaceAllString(m[1], ""))
		all = append(all, strings.ReplaceAll(text, " ", "-"))
	}
	return all
}

// unknownTargets are the targets of make that the Makefile has not.
func unknownTargets(r repository, d document) []string {
	var wrong []string
	for _, line := range d.code() {
		words := strings.Fields(strings.TrimPrefix(line, "$ "))
		if len(words) == 0 || words[0] != "make" {
			continue
		}
		for _, word := range words[1:] {
			if strings.HasPrefix(word, "#") {
				break
			}
			if !strings.Contains(word, "=") && !r.targets[word] {
				wrong = append(wrong, fmt.Sprintf("%s says make %s, which the Makefile has not", d.path, word))
			}
		}
	}
	return wrong
}

// unknownActions are the actions and parameters that actions.yaml has not.
func unknownActions(r repository, d document) []string {
	var wrong []string
	for _, line := range d.code() {
		for _, m := range run.FindAllStringSubmatch(line, -1) {
			params, known := r.params[m[1]]
			if !known {
				wrong = append(wrong, fmt.Sprintf("%s runs action %s, which there is not", d.path, m[1]))
				continue
			}
			for _, p := range param.FindAllStringSubmatch(m[2], -1) {
				if !params[p[1]] {
					wrong = append(wrong, fmt.Sprintf("%s gives action %s the parameter %s, which it has not", d.path, m[1], p[1]))
				}
			}
		}
	}
	return wrong
}

// unknownTests are the tests that the document names and that don't exist.
func unknownTests(r repository, d document) []string {
	var wrong []string
	for _, name := range testName.FindAllString(d.text, -1) {
		if !r.tests[name] {
			wrong = append(wrong, fmt.Sprintf("%s names %s, which there is not", d.path, name))
		}
	}
	return wrong
}

// missing are those of words that the document does not have in a code span.
func missing(d document, words []string) []string {
	spans := d.code()
	var wrong []string
	for _, w := range words {
		if !slices.Contains(spans, w) {
			wrong = append(wrong, fmt.Sprintf("%s does not name `%s`", d.path, w))
		}
	}
	return wrong
}

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

func TestRepository_knows_tests_and_rules(t *testing.T) {
	r := repository{tests: map[string]bool{}, rules: map[string]bool{}, documents: map[string]document{}}
	r.add("a/b_test.go", "package b\n\nfunc TestThis(t *testing.T) {}\n\nfunc helper() {}\n")
	r.add("a/b.go", "// f keeps rule R9, see rules R1 and R2.\nfunc TestNot() {}\n")
	r.add("a/c.md", "rule R7, TestNeither")
	assert.Equal(t, map[string]bool{"TestThis": true}, r.tests)
	assert.Equal(t, map[string]bool{"R9": true, "R1": true}, r.rules)
	assert.Contains(t, r.documents, "a/c.md")
}
