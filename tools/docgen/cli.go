package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ovn-central/ovn-central-operator/internal/cli"
)

const cliIntro = `# Command line

<!-- Written by "make generate" from the binary's own help. -->

Every command has ` + "`--help`" + `. The flags of a group, such as ` + "`gateways`" + `,
are those of each of its commands too.
The package ` + "`ovn-gateways`" + ` has the commands of ` + "`gateways`" + `, and ` + "`nodes`" + `.

| Exit status | |
|---|---|
`

// helpFlag matches a line that the page has only once, for all commands.
var helpFlag = regexp.MustCompile(`(?m)^ +-h, --help +help for .*\n|^Use "[\w -]+ \[command\] --help" for more.*\n`)

// names matches the lists of hooks and actions, which have their own pages.
var names = regexp.MustCompile(`(?s)\n\n(HOOKS|ACTIONS)\n.*`)

// commands matches the list of a group's commands, whose help follows.
var commands = regexp.MustCompile(`\nAvailable Commands:\n(  .*\n)+`)

// noFlags matches the heading of a list that has only that flag.
var noFlags = regexp.MustCompile(`\n\nFlags:\s*$`)

// cliPage shows the --help of each command of a tree, in one page.
func cliPage(root *cobra.Command) []byte {
	var out strings.Builder
	out.WriteString(cliIntro)
	out.WriteString(exitStatus(root))
	writeHelp(&out, root)
	return []byte(out.String())
}

// exitStatus returns the rows of the table of a tree's exit statuses.
func exitStatus(root *cobra.Command) (rows string) {
	for _, e := range cli.Sections(root)[0].Entries {
		rows += fmt.Sprintf("| `%s` | %s |\n", e[0], e[1])
	}
	return rows
}

func writeHelp(out *strings.Builder, command *cobra.Command) {
	text := command.Long
	if text == "" {
		text = command.Short
	}
	text = names.ReplaceAllString(text, "")
	command.InitDefaultHelpFlag()
	// The layout is as in a terminal. The flags of a group are shown once, with the group.
	usage, _, _ := strings.Cut(command.UsageString(), "\nGlobal Flags:\n")
	usage = commands.ReplaceAllString(usage, "")
	usage = noFlags.ReplaceAllString(helpFlag.ReplaceAllString(usage, ""), "")
	fmt.Fprintf(out, "\n## %s\n\n```text\n%s\n\n%s\n```\n", command.CommandPath(), strings.TrimSpace(text),
		strings.TrimSpace(usage))
	for _, c := range command.Commands() {
		if c.IsAvailableCommand() || c.IsAdditionalHelpTopicCommand() {
			writeHelp(out, c)
		}
	}
}
