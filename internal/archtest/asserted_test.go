package archtest

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

var (
	threeWords = regexp.MustCompile(`^[a-z]{2,} [a-z]+ [a-z]{2,}$`)
	allWords   = regexp.MustCompile(`^[A-Za-z]+( [a-z]+)+$`)
	comparison = regexp.MustCompile(`^(assert|require|strings)\..*` +
		`(Equal|Contains|Regexp|Match|Subset|HasPrefix|HasSuffix|Cut|Count)`)
	// writers have the texts for people, or test the texts that users of the Python charm read.
	writers = regexp.MustCompile(`/(internal/(finding|present|archtest)|tests/integration/compatibility)$`)
)

// Tests compare codes, arguments and values. So the product's sentences can be improved without changing a test.
func TestTests_compare_no_prose(t *testing.T) {
	said := map[string]bool{}
	for _, p := range list(t) {
		for _, f := range code(t, p) {
			addProse(said, f.parse(t))
		}
	}
	for _, p := range list(t) {
		for _, f := range sources(t, p) {
			if (f.test || !p.isProduct()) && !writers.MatchString(p.ImportPath) {
				assert.Empty(t, compared(f.parse(t), said), "%s: use the code, the argument or the constant", f.name)
			}
		}
	}
}

func TestComparedProse_is_found(t *testing.T) {
	said := map[string]bool{}
	product := "package x; const Gone = `already gone`; var is, s = `not up`, `no majority serves `"
	addProse(said, source{text: []byte(product)}.parse(t))
	f := source{text: []byte("package x; var _ = assert.Equal(t, `already gone`, outcome) && " +
		"assert.Equal(t, `not up`, is) && assert.Contains(t, s, `; no majority serves nb`) && " +
		"assert.True(t, is, `no majority serves it`)")}
	assert.Equal(t, []string{"already gone", "no majority serves"}, compared(f.parse(t), said))
}

// addProse adds each three words in a row of a product file's texts, and its exported constants of several words.
func addProse(said map[string]bool, file *ast.File) {
	for _, text := range texts(file) {
		said[text] = said[text] || threeWords.MatchString(text)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if constant, is := n.(*ast.ValueSpec); is && constant.Names[0].IsExported() {
			for _, text := range texts(constant) {
				said[text] = said[text] || allWords.MatchString(text)
			}
		}
		return true
	})
}

// compared returns the texts of the product with which a test file compares others.
func compared(file *ast.File, said map[string]bool) (all []string) {
	ast.Inspect(file, func(n ast.Node) bool {
		call, is := n.(*ast.CallExpr)
		if !is || !comparison.MatchString(types.ExprString(call.Fun)) {
			return true
		}
		for _, arg := range call.Args[1:min(3, len(call.Args))] { // the others explain a failure
			for _, text := range texts(arg) {
				if said[text] {
					all = append(all, text)
				}
			}
		}
		return true
	})
	return all
}

// texts returns the texts in a node without commands, each once whole and then by three words in a row.
func texts(n ast.Node) (all []string) {
	ast.Inspect(n, func(n ast.Node) bool {
		if literal, is := n.(*ast.BasicLit); is && literal.Kind == token.STRING {
			value, _ := strconv.Unquote(literal.Value)
			text, _, _ := strings.Cut(value, "sudo ")
			words := strings.Fields(text)
			all = append(all, text)
			for i := range len(words) - 2 {
				all = append(all, strings.Join(words[i:i+3], " "))
			}
		}
		return true
	})
	return all
}
