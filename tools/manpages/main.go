// Command manpages writes the man pages and the shells' completions of ovn-gateways, for
// its package. The same sources give the same bytes.
package main

import (
	"bytes"
	"compress/gzip"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/ovn-central/ovn-central-operator/internal/cli"
)

func main() {
	out := flag.String("out", "", "folder to write to")
	date := flag.String("date", "", "day of the pages, as 2006-01-02")
	flag.Parse()
	if err := write(*out, *date); err != nil {
		log.Fatal(err)
	}
}

// write makes the files, in folders as a package has them below /usr/share.
func write(out, date string) error {
	day, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return fmt.Errorf("cannot read -date: %w", err)
	}
	root := cli.Gateways(func(string) string { return "" })
	root.InitDefaultCompletionCmd()
	root.DisableAutoGenTag = true // it has the day of the build
	files := map[string]func(*bytes.Buffer) error{
		"bash-completion/completions/" + cli.GatewaysName:         func(b *bytes.Buffer) error { return root.GenBashCompletionV2(b, true) },
		"zsh/vendor-completions/_" + cli.GatewaysName:             func(b *bytes.Buffer) error { return root.GenZshCompletion(b) },
		"fish/vendor_completions.d/" + cli.GatewaysName + ".fish": func(b *bytes.Buffer) error { return root.GenFishCompletion(b, true) },
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

// addPages adds the page of a command, and of those below it, as Debian has them: packed.
func addPages(files map[string]func(*bytes.Buffer) error, command *cobra.Command, header *doc.GenManHeader) {
	name := strings.ReplaceAll(command.CommandPath(), " ", "-") + ".1.gz"
	files["man/man1/"+name] = func(b *bytes.Buffer) error {
		own := *header
		packed, err := gzip.NewWriterLevel(b, gzip.BestCompression)
		if err == nil {
			err = doc.GenMan(command, &own, packed)
		}
		if err == nil {
			err = packed.Close()
		}
		return err
	}
	for _, c := range command.Commands() {
		if c.IsAvailableCommand() && c.Name() != "completion" {
			addPages(files, c, header)
		}
	}
}
