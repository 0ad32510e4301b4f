package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// wallFile is the one file of the agent that reads the wall clock.
const wallFile = "clock.go"

// The agent decides by a clock that never jumps and is passed to it. (Package lease is pure and reads none.) The wall
// clock is for people and for sockets, through one function.
func TestWallClock_one_file_of_agent(t *testing.T) {
	found := false
	for _, p := range list(t) {
		if p.local() != "agent" {
			continue
		}
		for _, f := range sources(t, p) {
			if f.test {
				continue
			}
			reads := wallReads(t, f)
			if path.Base(f.name) == wallFile {
				found = len(reads) == 1
				continue
			}
			assert.Empty(t, reads)
		}
	}
	require.True(t, found, "%s reads it once", wallFile)
}

func TestWallClock_reads_are_found(t *testing.T) {
	const text = `package agent
func a() { _ = time.Now(); x := service{Now: time.Now}; <-time.After(time.Second) }
func b() { _ = time.Since(t) + time.Until(t) }
`
	assert.Len(t, wallReads(t, source{name: "a.go", text: []byte(text)}), 4)
}

// wallReads lists where a file reads the wall clock.
func wallReads(t *testing.T, f source) (all []string) {
	t.Helper()
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, f.name, f.text, parser.SkipObjectResolution)
	require.NoError(t, err)
	ast.Inspect(tree, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if from, ok := s.X.(*ast.Ident); ok && from.Name == "time" && (s.Sel.Name == "Now" || s.Sel.Name == "Since" || s.Sel.Name == "Until") {
				all = append(all, set.Position(n.Pos()).String()+": time."+s.Sel.Name)
			}
		}
		return true
	})
	return all
}
