package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

const cliIntro = `# Command line

<!-- Written by "make generate" from the binary's own help. -->
`

// cliPage is what --help says of each command of a tree, in one page.
func cliPage(root *cobra.Command) []byte {
	var out strings.Builder
	out.WriteString(cliIntro)
	writeHelp(&out, root)
	return []byte(out.String())
}

func writeHelp(out *strings.Builder, command *cobra.Command) {
	text := command.Long
	if text == "" {
		text = command.Short
	}
	command.InitDefaultHelpFlag()
	// As it is, since help is laid out for a terminal.
	fmt.Fprintf(out, "\n## %s\n\n```text\n%s\n\n%s```\n",
		command.CommandPath(), strings.TrimSpace(text), command.UsageString())
	for _, c := range command.Commands() {
		if c.IsAvailableCommand() || c.IsAdditionalHelpTopicCommand() {
			writeHelp(out, c)
		}
	}
}
