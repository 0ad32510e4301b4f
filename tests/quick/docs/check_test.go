package docs_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
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
