package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestActionsPage(t *testing.T) {
	got, err := actionsPage([]byte(`
second:
  description: |
    Does the second thing.

    It takes long.
  params:
    zeal:
      type: [string, integer]
      description: How much | how little.
    form: &form
      type: string
      enum: [text, json]
      default: text
      description: |
        Of the
        result.
first:
  description: Does the first thing.
third:
  description: Does it again.
  params:
    shape: *form
`))
	require.NoError(t, err)
	assert.Equal(t, actionsIntro+`
## second

Does the second thing.

It takes long.

- `+"`zeal`"+` (string): How much | how little.
- `+"`form`"+` (`+"`text`, `json`; default `text`"+`): Of the result.

## first

Does the first thing.

## third

Does it again.

- `+"`shape`: [as `form` of second](#second)"+`
`, string(got))
}

func TestConfigPage(t *testing.T) {
	got, err := configPage([]byte(`
options:
  timer_x:
    type: int
    default: 4
    description: |
      Seconds.

      More | of it.
  source: {type: string, default: "", description: Where from.}
  none: {type: string, description: Nothing.}
`))
	require.NoError(t, err)
	assert.Equal(t, configIntro+`
## timer_x

*int; default `+"`4`"+`*

Seconds.

More | of it.

## source

*string*

Where from.

## none

*string*

Nothing.
`, string(got))
}

func TestCLIPage(t *testing.T) {
	root := &cobra.Command{Use: "tool", Short: "A tool."}
	run := func(*cobra.Command, []string) {}
	turn := &cobra.Command{
		Use: "turn ANGLE", Short: "Turn.", Long: "Turn by an angle.\n", Example: "  tool turn 90",
		Run: run,
	}
	turn.Flags().Bool("left", false, "the other way round")
	root.AddCommand(turn, &cobra.Command{Use: "secret", Hidden: true, Run: run})
	assert.Equal(t, cliIntro+exitStatus(root)+`
## tool

`+"```text"+`
A tool.

Usage:
  tool [command]
`+"```"+`

## tool turn

`+"```text"+`
Turn by an angle.

Usage:
  tool turn ANGLE [flags]

Examples:
  tool turn 90

Flags:
      --left   the other way round
`+"```"+`
`, string(cliPage(root)))
}

func TestGenerate_check(t *testing.T) {
	root := t.TempDir()
	text := "a"
	p := page{name: "x.md", render: func(string) ([]byte, error) { return []byte(text), nil }}
	path := filepath.Join(root, reference, "x.md")
	stale := path + " is out of date: run 'make generate'"

	require.EqualError(t, generate(root, p, compare), stale)
	require.NoFileExists(t, path)
	require.NoError(t, generate(root, p, write))
	require.NoError(t, generate(root, p, compare))
	text = "b"
	require.EqualError(t, generate(root, p, compare), stale)
	is, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "a", string(is))
}

func TestGenerate_broken_file(t *testing.T) {
	tests := map[string]struct {
		source, want string
	}{
		"not YAML":           {"\t", "cannot describe actions.yaml: "},
		"not a mapping":      {"- kick\n", "cannot describe actions.yaml: line 1: not a mapping"},
		"action of no shape": {"kick: 7\n", "cannot describe actions.yaml: action kick: "},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(root, "actions.yaml"), []byte(test.source), 0o600))
			err := generate(root, pages[0], write)
			assert.ErrorContains(t, err, test.want)
			assert.NoDirExists(t, filepath.Join(root, "docs"))
		})
	}
}
