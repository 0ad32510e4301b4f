package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ovn-central/ovn-central-operator/internal/version"
)

// issues is the address for reporting problems.
const issues = "https://github.com/ovn-central/ovn-central-operator/issues"

// pageKey is the annotation of a command, or of a group, with the page of the documents about it. An annotation with
// the number of an exit status as its key has the meaning of that status, if it differs from [exitStatus].
const pageKey = "page"

// exitStatus lists the exit codes of every command.
var exitStatus = [][2]string{
	{"0", "done"},
	{"1", "failed, or refused"},
	{"2", "the command line can't be understood"},
	{"3", ""},
	{"130", "interrupted"},
}

// Section is a part of a command's help after its flags.
type Section struct {
	Title string
	// Entries are terms and their meanings.
	Entries [][2]string
}

// Sections returns the last parts of a command's help and page.
func Sections(cmd *cobra.Command) []Section {
	status := Section{Title: "Exit status"}
	for _, e := range exitStatus {
		meaning := cmp.Or(cmd.Annotations[e[0]], e[1])
		if meaning == "" && (cmd.Flags().Lookup("exit-code") != nil || !cmd.HasParent()) {
			meaning = "status --exit-code: there are warnings or errors"
		}
		if meaning != "" {
			status.Entries = append(status.Entries, [2]string{e[0], meaning})
		}
	}
	all := []Section{status}
	if cmd.Flag("nb") != nil && cmd.Flag("unit") == nil {
		all = append(all, Section{"Environment", [][2]string{
			{"OVN_NB_DB", "where the Northbound database is, without --nb"},
			{"OVN_SB_DB", "where the Southbound database is, without --sb"},
			{"OVN_RUNDIR", "where the sockets of this machine's databases are; default /var/run/ovn"},
		}})
	}
	return append(all, Section{"See also", [][2]string{
		{"Documents", version.Docs + page(cmd)}, {"Problems", issues},
	}})
}

// page returns the page about a command, or else about its group.
func page(cmd *cobra.Command) string {
	for ; cmd != nil; cmd = cmd.Parent() {
		if found := cmd.Annotations[pageKey]; found != "" {
			return found + ".html"
		}
	}
	return "index.html"
}

// dress completes a tree with help and version, errors for invalid command lines, and completions.
func dress(root *cobra.Command) {
	root.SilenceErrors, root.SilenceUsage = true, true
	root.Version = version.Version
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	root.SetFlagErrorFunc(flagError)
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if unknown(cmd, cmd.Flags().Args()) != nil {
			return // [misnamed] reports it
		}
		help(cmd, args)
		for _, s := range Sections(cmd) {
			fmt.Fprintf(cmd.OutOrStdout(), "\n%s:\n", s.Title)
			for _, e := range s.Entries {
				fmt.Fprintf(cmd.OutOrStdout(), "  %-10s  %s\n", e[0], e[1])
			}
		}
	})
	root.SetHelpCommand(helpOn(root))
	for _, group := range root.Commands() { // cobra adds it to the root only
		if group.HasSubCommands() {
			help := helpOn(group)
			help.Hidden = true
			group.AddCommand(help)
		}
	}
	check(root)
}

// helpOn returns the command help of the root, or of a group.
func helpOn(group *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show how a command is used",
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
			if cmd, rest, err := group.Find(args); err == nil && len(rest) == 0 {
				for _, sub := range cmd.Commands() {
					if sub.IsAvailableCommand() {
						names = append(names, cobra.CompletionWithDesc(sub.Name(), sub.Short))
					}
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := group.Find(args)
			if err == nil {
				err = unknown(cmd, rest)
			}
			if err != nil {
				return usageError{err}
			}
			return cmd.Help()
		},
	}
}

// check turns errors in the arguments of a command, and of its subcommands, into usage errors.
func check(cmd *cobra.Command) {
	cmd.Args = usage(cmd.Args)
	for _, sub := range cmd.Commands() {
		check(sub)
	}
}

// unknown returns the error for arguments that name no command of a group; nil if they name one, or if there are
// none.
func unknown(cmd *cobra.Command, args []string) error {
	if !cmd.HasSubCommands() || len(args) == 0 {
		return nil
	}
	cmd.SuggestionsMinimumDistance = 2
	near := ""
	all := cmd.SuggestionsFor(args[0])
	for _, group := range cmd.Commands() {
		if slices.ContainsFunc(group.Commands(), func(c *cobra.Command) bool { return c.Name() == args[0] }) {
			all = append(all, group.Name()+" "+args[0])
		}
		if group.LocalNonPersistentFlags().Lookup(args[0]) != nil {
			all = append(all, group.Name()+" --"+args[0])
		}
	}
	if len(all) > 0 {
		near = fmt.Sprintf("did you mean %s? ", strings.Join(all, " or "))
	}
	return usageErrorf("unknown command %q for %q; %s%s --help lists them", args[0], cmd.CommandPath(), near,
		cmd.CommandPath())
}

// misnamed returns the error for help about a command that does not exist: cobra's help can't fail.
func misnamed(cmd *cobra.Command) error {
	if help, err := cmd.Flags().GetBool("help"); err == nil && help {
		if err := unknown(cmd, cmd.Flags().Args()); err != nil {
			return err
		}
	}
	for _, sub := range cmd.Commands() {
		if err := misnamed(sub); err != nil {
			return err
		}
	}
	return nil
}

// flagError adds the command that lists the flags.
func flagError(cmd *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) && errors.As(err, new(*strconv.NumError)) {
		flag, least := invalid.GetFlag(), ""
		if strings.HasPrefix(flag.Value.Type(), "uint") {
			least = ", 0 or more"
		}
		err = fmt.Errorf("--%s %q: must be a whole number%s", flag.Name, invalid.GetValue(), least)
	}
	return usageErrorf("%w; %s --help lists the flags", err, cmd.CommandPath())
}

// swallowed returns the error for a flag that has taken the next flag as its value, as in `--revert --dry-run`.
func swallowed(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		name, is := strings.CutPrefix(f.Value.String(), "--")
		if is && f.Value.Type() == "string" && cmd.Flags().Lookup(name) != nil {
			err = flagError(cmd, fmt.Errorf("flag needs an argument: --%s, not the flag --%s", f.Name, name))
		}
	})
	return err
}

// usage turns a wrong number of arguments into a usage error with the correct syntax.
func usage(allowed cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := cmp.Or(unknown(cmd, args), swallowed(cmd)); err != nil {
			return err
		}
		if allowed == nil || allowed(cmd, args) == nil {
			return nil
		}
		name, takes, _ := strings.Cut(cmd.Use, " ")
		given := ""
		if len(args) > 0 {
			given = fmt.Sprintf(", not %q", strings.Join(args, " "))
		}
		return usageErrorf("%s takes %s%s; type: %s", name, cmp.Or(takes, "no arguments"), given, cmd.UseLine())
	}
}
