// Command manpages writes the man pages and the shells' completions of ovn-gateways, for
// its package. The same sources give the same bytes.
package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/ovn-central/ovn-central-operator/internal/cli"
)

func main() {
	out := flag.String("out", "", "folder to write to")
	date := flag.String("date", "", "day of the pages, as 2006-01-02 (default: of SOURCE_DATE_EPOCH, or of the commit)")
	flag.Parse()
	day, err := dayOf(*date, os.Getenv("SOURCE_DATE_EPOCH"))
	if err != nil {
		log.Fatal(err)
	}
	if err := write(*out, day); err != nil {
		log.Fatal(err)
	}
}

// dayOf returns the day of the pages: the given one, else that of SOURCE_DATE_EPOCH
// (https://reproducible-builds.org/specs/source-date-epoch/), else the day of the commit.
func dayOf(date, epoch string) (day time.Time, err error) {
	if date != "" {
		if day, err = time.Parse(time.DateOnly, date); err != nil {
			return day, fmt.Errorf("cannot read -date: %w", err)
		}
		return day, nil
	}
	if epoch == "" {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		out, err := exec.CommandContext(ctx, "git", "log", "-1", "--format=%ct").Output()
		if err != nil {
			return day, fmt.Errorf("cannot tell the day of the commit: %w; give -date", err)
		}
		epoch = strings.TrimSpace(string(out))
	}
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil {
		return day, fmt.Errorf("cannot read the time of the sources: %w", err)
	}
	return time.Unix(seconds, 0).UTC().Truncate(24 * time.Hour), nil
}

// write makes the files, in folders as a package has them below /usr/share.
func write(out string, day time.Time) error {
	root := cli.Gateways(cli.GatewaysName, func(string) string { return "" })
	root.DisableAutoGenTag = true // the tag has the day of the build
	root.InitDefaultVersionFlag()
	files := map[string]func(*bytes.Buffer) error{
		"bash-completion/completions/" + cli.GatewaysName: func(b *bytes.Buffer) error {
			return root.GenBashCompletionV2(b, true)
		},
		"zsh/vendor-completions/_" + cli.GatewaysName: func(b *bytes.Buffer) error {
			return root.GenZshCompletion(b)
		},
		"fish/vendor_completions.d/" + cli.GatewaysName + ".fish": func(b *bytes.Buffer) error {
			return root.GenFishCompletion(b, true)
		},
	}
	addPages(files, root, &doc.GenManHeader{Section: "1", Date: &day, Source: "OVN", Manual: "OVN gateways"})
	for name, content := range files {
		var b bytes.Buffer
		if err := content(&b); err != nil {
			return fmt.Errorf("cannot make %s: %w", name, err)
		}
		path := filepath.Join(out, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("cannot write %s: %w", name, err)
		}
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			return fmt.Errorf("cannot write %s: %w", name, err)
		}
	}
	return nil
}

// readable makes cobra's flags a list like the other parts of a page, and its lines ragged on the right.
var readable = strings.NewReplacer(
	"[=false]", "", // no one types --yes=true
	".nh\n", ".nh\n.ad l\n",
	".PP\n\\fB-", ".TP\n\\fB-",
	".SH OPTIONS\n", ".SH OPTIONS\n.TP\n",
	".SH OPTIONS INHERITED FROM PARENT COMMANDS\n", ".SH OPTIONS INHERITED FROM PARENT COMMANDS\n.TP\n",
	"\n\t", "\n",
)

// address matches an address alone on its line. It stays on one line, so that it can be copied.
var address = regexp.MustCompile(`(?m)^https://\S+$`)

// describe adds to a command's text the parts of its page other than flags. cobra makes sections from such headings.
func describe(command *cobra.Command) {
	var b strings.Builder
	b.WriteString(command.Long)
	if b.Len() == 0 {
		b.WriteString(command.Short + ".")
	}
	if command.HasAvailableSubCommands() {
		command.Use += " COMMAND"
		b.WriteString("\n\n# COMMANDS\n")
		writeCommands(&b, command, "")
	}
	for _, s := range cli.Sections(command) {
		if s.Title == "See also" { // cobra has a section of this name
			s.Title = "Documents"
		}
		fmt.Fprintf(&b, "\n# %s\n", strings.ToUpper(s.Title))
		for _, e := range s.Entries {
			fmt.Fprintf(&b, "\n**%s**\n: %s\n", e[0], e[1])
		}
	}
	command.Long = b.String()
}

// writeCommands lists the commands of a group, and of the groups in it.
func writeCommands(b *strings.Builder, group *cobra.Command, prefix string) {
	for _, c := range group.Commands() {
		switch {
		case !c.IsAvailableCommand() || c.Name() == "completion" || c.Name() == "help":
		case c.HasAvailableSubCommands():
			writeCommands(b, c, prefix+c.Name()+" ")
		default:
			fmt.Fprintf(b, "\n**%s%s**\n: %s\n", prefix, c.Use, c.Short)
		}
	}
}

// addPages adds the page of a command, and of those below it, as Debian has them: packed.
func addPages(files map[string]func(*bytes.Buffer) error, command *cobra.Command, header *doc.GenManHeader) {
	describe(command)
	name := strings.ReplaceAll(command.CommandPath(), " ", "-") + ".1.gz"
	files["man/man1/"+name] = func(b *bytes.Buffer) error {
		own := *header
		var page bytes.Buffer
		if err := doc.GenMan(command, &own, &page); err != nil {
			return err
		}
		packed, err := gzip.NewWriterLevel(b, gzip.BestCompression)
		if err == nil {
			_, err = packed.Write(address.ReplaceAll([]byte(readable.Replace(page.String())), []byte(".nf\n$0\n.fi")))
		}
		if err == nil {
			err = packed.Close()
		}
		return err
	}
	for _, c := range command.Commands() {
		if c.IsAvailableCommand() && c.Name() != "completion" && c.Name() != "help" {
			addPages(files, c, header)
		}
	}
}
