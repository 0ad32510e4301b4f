package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/status"
)

var (
	verb    = regexp.MustCompile(`%[0-9.]*[a-z]`)
	letters = regexp.MustCompile(`\pL`)
)

// leastLetters are those that a text has which says something by itself, beside
// what is put into it.
const leastLetters = 8

// formats are the texts of statuses in Go code, with their verbs: what is given
// to block, wait and note of a decision, and what is put together for them.
func formats(file *ast.File) []string {
	var all []string
	ast.Inspect(file, func(node ast.Node) bool {
		if method, ok := node.(*ast.FuncDecl); ok && method.Name.Name == "String" {
			return false // for the log
		}
		call, ok := node.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		selector, ok := call.Fun.(*ast.SelectorExpr)
		literal, isText := call.Args[0].(*ast.BasicLit)
		if !ok || !isText || literal.Kind != token.STRING || !slices.Contains([]string{"block", "wait", "note", "Sprintf"}, selector.Sel.Name) {
			return true
		}
		if text, err := strconv.Unquote(literal.Value); err == nil && len(letters.FindAllString(verb.ReplaceAllString(text, ""), -1)) >= leastLetters {
			all = append(all, text)
		}
		return true
	})
	return all
}

// shown says whether a code span of the document is, or contains, a text that a
// format can give.
func shown(d document, format string) bool {
	var parts []string
	for _, part := range verb.Split(format, -1) {
		parts = append(parts, regexp.QuoteMeta(part))
	}
	pattern := regexp.MustCompile(strings.Join(parts, ".+"))
	return slices.ContainsFunc(d.code(), pattern.MatchString)
}

// parts are the texts that are put together with others by a plus.
func parts(file *ast.File) []string {
	var all []string
	ast.Inspect(file, func(node ast.Node) bool {
		sum, ok := node.(*ast.BinaryExpr)
		if !ok || sum.Op != token.ADD {
			return true
		}
		for _, operand := range []ast.Expr{sum.X, sum.Y} {
			literal, ok := operand.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				continue
			}
			if text, err := strconv.Unquote(literal.Value); err == nil && len(letters.FindAllString(text, -1)) >= leastLetters {
				all = append(all, strings.Trim(text, " "))
			}
		}
		return true
	})
	return all
}

// An operator who searches for the line that he reads finds it.
func TestEveryStatusIsDocumented(t *testing.T) {
	d := readRepository(t).documents["docs/reference/statuses.md"]
	files, err := filepath.Glob(filepath.Join(root, "internal", "plan", "*.go"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	lines := []string{
		filepath.Join(root, "internal", "reconcile", "status.go"),
		filepath.Join(root, "internal", "status", "summary.go"),
		filepath.Join(root, "internal", "status", "problem.go"),
	}
	files = append(files, filepath.Join(root, "internal", "reconcile", "disk.go"))
	for _, name := range append(files, lines...) {
		if strings.HasSuffix(name, "_test.go") || filepath.Base(name) == "upgradecheck.go" { // whose texts are an action's
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		texts := formats(file)
		if slices.Contains(lines, name) {
			texts = append(texts, parts(file)...)
			assert.NotEmpty(t, texts, name)
		}
		for _, text := range texts {
			assert.True(t, shown(d, text), "%s has no example of %q, which is in %s", d.path, text, filepath.Base(name))
		}
	}
}

// firstCommand is the end of the first thing to type in a message; 0 where there is none.
var firstCommand = regexp.MustCompile(`^.*?\bjuju (?:run|exec|ssh|integrate|add-unit|remove-unit|resolved|config)\b[^;()]*?(?:$|[;()]|: |,)`)

// notes is the table of what an active unit says among other things.
var notes = regexp.MustCompile(`(?s)Before the last part of an .active. unit's line:\n(.*?)\n\n[^|\n]`)

// At three in the morning there is `juju status`, which shows no more of a message: a
// command that is cut off can't be typed.
func TestFirstCommandOfEachStatusIsShownWhole(t *testing.T) {
	found := 0
	column := regexp.MustCompile(`^(?:.*  )`) // of an excerpt of juju status
	d := readRepository(t).documents["docs/reference/statuses.md"]
	beside := notes.FindString(d.text)
	require.NotEmpty(t, beside)
	noted := document{d.path, beside}.code()
	for _, message := range d.code() {
		shown := column.ReplaceAllString(message, "")
		if slices.Contains(noted, message) {
			shown = status.Ready(shown)
		}
		command := firstCommand.FindString(shown)
		if command == "" {
			continue
		}
		found++
		command = strings.TrimRight(command, " ;():,")
		assert.LessOrEqual(t, len(command), status.StatusWidth, message)
		assert.NotContains(t, strings.ReplaceAll(command, "1f2e…", ""), "…", "the example hides how far the command is: %s", message)
	}
	assert.Greater(t, found, 25)
}

func TestTextsOfStatusesAreFound(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "x.go", `package x
func f(d *D) {
	d.block("%s: the file is of cluster %s", a, b)
	d.wait("%s: %s", a, b)
	d.note(other)
	d.do("not a status at all")
	g(fmt.Sprintf("two clusters: %d", n))
	h("the ports are closed: " + why)
	h(why + ", or not known")
	h("short" + why)
}
func (s Step) String() string { return fmt.Sprintf("a line of the log") }`, 0)
	require.NoError(t, err)
	all := formats(file)
	assert.Equal(t, []string{"%s: the file is of cluster %s", "two clusters: %d"}, all)
	assert.Equal(t, []string{"the ports are closed:", ", or not known"}, parts(file))
	d := document{"a.md", "`nb: the file is of cluster 1f2e`, and two clusters: 2"}
	assert.True(t, shown(d, all[0]))
	assert.False(t, shown(d, all[1]), "it is not in a code span")
}
