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
	// An action as Juju and the lab read it: UNIT ACTION [KEY=VALUE...].
	run   = regexp.MustCompile(`\b(?:juju run|juju run-action|ovn-lab run)(?: ovn-central/\w+)+ ([a-z][\w-]*)((?: [a-z][\w-]*=\S+)*)`)
	param = regexp.MustCompile(` ([a-z][\w-]*)=`)
)

// prose returns the document without its code blocks.
func (d document) prose() string { return fence.ReplaceAllString(d.text, "") }

// code returns the lines of its code blocks, and its code spans.
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

// anchors returns the names to which a link can lead within the document, after a #, as GitHub makes them from
// headings.
func (d document) anchors() []string {
	var all []string
	for _, m := range heading.FindAllStringSubmatch(d.prose(), -1) {
		text := strings.ToLower(dropped.ReplaceAllString(m[1], ""))
		all = append(all, strings.ReplaceAll(text, " ", "-"))
	}
	return all
}

// unknownTargets returns the named targets of make that the Makefile lacks.
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

// unknownActions returns the named actions and parameters that actions.yaml lacks.
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

// unknownTests returns the named tests that don't exist.
func unknownTests(r repository, d document) []string {
	var wrong []string
	for _, name := range testName.FindAllString(d.text, -1) {
		if !r.tests[name] {
			wrong = append(wrong, fmt.Sprintf("%s names %s, which there is not", d.path, name))
		}
	}
	return wrong
}

// missing returns the words that the document does not have in a code span.
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

// Each check finds its fault.
func TestChecks_wrong_documents_are_found(t *testing.T) {
	r := repository{
		targets: map[string]bool{"test": true, "lint": true}, tests: map[string]bool{"TestKnown": true},
		params: map[string]map[string]bool{"kick": {"nb-identity": true, "force": true}},
	}
	named := func(_ repository, d document) []string { return missing(d, []string{"stop"}) }
	for _, c := range []struct {
		check func(repository, document) []string
		text  string
		want  int
	}{
		{unknownTargets, "`make`, to make tests pass\n\n```\n$ make test lint ARCH=arm64 # both\n```\n", 0},
		{unknownTargets, "`make tests`\n\n```\nmake test\nmake lint fuzz\n```\n", 2},
		{unknownActions, "`juju run ovn-central/0 kick force=true`, `juju run-action ovn-central/leader kick --wait`", 0},
		{unknownActions, "`juju run --unit ovn-central/0 -- hostname`", 0},
		{unknownActions, "```\n$ build/ovn-lab run ovn-central/1 kicks\n```\n", 1},
		{unknownActions, "`juju run ovn-central/0 cluster-kick`", 1},
		{unknownActions, "`juju run\novn-central/0 kick nb-identity=13fe farce=true`", 1},
		{unknownTests, "`TestKnown`", 0},
		{unknownTests, "`TestKnown`, `TestUnknown`", 1},
		{named, "the hook `stop`", 0},
		{named, "the hook stop, or `stops`", 1},
	} {
		assert.Len(t, c.check(r, document{"docs/a.md", c.text}), c.want, c.text)
	}
}
