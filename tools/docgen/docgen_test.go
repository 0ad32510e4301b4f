package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestActionsAreDescribedInTheOrderOfTheFile(t *testing.T) {
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

| Parameter | Type | Default | Meaning |
|---|---|---|---|
| `+"`zeal`"+` | string, integer |  | How much \| how little. |
| `+"`form`"+` | `+"`text`, `json`"+` | `+"`text`"+` | Of the result. |

## first

Does the first thing.

## third

Does it again.

| Parameter | Type | Default | Meaning |
|---|---|---|---|
| `+"`shape`"+` | `+"`text`, `json`"+` | `+"`text`"+` | Of the result. |
`, string(got))
}

func TestConfigIsDescribedInTheOrderOfTheFile(t *testing.T) {
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
	assert.Equal(t, configIntro+`| [`+"`timer_x`](#timer_x) | int | `4`"+` |
| [`+"`source`"+`](#source) | string | empty |
| [`+"`none`"+`](#none) | string |  |

## timer_x

Seconds.

More | of it.

## source

Where from.

## none

Nothing.
`, string(got))
}

func TestCommandsAreDescribedWithTheirFlags(t *testing.T) {
	root := &cobra.Command{Use: "tool", Short: "A tool."}
	run := func(*cobra.Command, []string) {}
	turn := &cobra.Command{Use: "turn ANGLE", Short: "Turn.", Long: "Turn by an angle.\n", Example: "  tool turn 90", Run: run}
	turn.Flags().Bool("left", false, "the other way round")
	root.AddCommand(turn, &cobra.Command{Use: "secret", Hidden: true, Run: run})
	assert.Equal(t, cliIntro+`
## tool

`+"```text"+`
A tool.

Usage:
  tool [command]

Available Commands:
  turn        Turn.

Flags:
  -h, --help   help for tool

Use "tool [command] --help" for more information about a command.
`+"```"+`

## tool turn

`+"```text"+`
Turn by an angle.

Usage:
  tool turn ANGLE [flags]

Examples:
  tool turn 90

Flags:
  -h, --help   help for turn
      --left   the other way round
`+"```"+`
`, string(cliPage(root)))
}

func TestCheckFailsUntilThePageIsWritten(t *testing.T) {
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

func TestABrokenFileIsNamed(t *testing.T) {
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

func TestRecordingIsShownChapterByChapter(t *testing.T) {
	recording := `{"version":2}
[0.03, "o", "\r\n"]
[1.03, "o", "== A unit goes\r\n"]
[1.06, "o", "\r\n"]
[2.56, "o", "$ juju remove-unit ovn-central/0\r\n"]
[2.59, "o", "   gone\r\n"]
[2.62, "o", "\r\n"]
[3.62, "o", "== Another comes\r\n"]
[5.12, "o", "$ juju add-unit ovn-central\r\n"]
`
	got, err := demoPage([]byte(recording))
	require.NoError(t, err)
	assert.Contains(t, string(got), "\n## A unit goes\n\n```text\n$ juju remove-unit ovn-central/0\n   gone\n```\n\n## Another comes\n\n```text\n$ juju add-unit ovn-central\n```\n")
	for _, broken := range []string{"{}\n[1, \"o\"", "{}\n[1, 2]"} {
		_, err := demoPage([]byte(broken))
		assert.ErrorContains(t, err, "cannot read line 2")
	}
}
