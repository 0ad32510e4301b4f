// Command docgen writes the pages of docs/reference that follow from the charm's own files. With -check it writes
// nothing and fails if a page is outdated.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ovn-central/ovn-central-operator/internal/cli"
)

// reference is the directory in which the pages are.
const reference = "docs/reference"

// page is one generated file.
type page struct {
	name   string // in reference
	render func(root string) ([]byte, error)
}

var pages = []page{
	{name: "actions.md", render: fromFile("actions.yaml", actionsPage)},
	{name: "config.md", render: fromFile("config.yaml", configPage)},
	{name: "cli.md", render: func(string) ([]byte, error) {
		return cliPage(cli.Root("ovn-central-operator", func(string) string { return "" }, io.Discard)), nil
	}},
	{name: "findings.md", render: findingsPage},
	{name: "layers.svg", render: layersPicture},
}

// fromFile makes a page from one of the charm's files.
func fromFile(name string, render func(source []byte) ([]byte, error)) func(root string) ([]byte, error) {
	return func(root string) ([]byte, error) {
		source, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return nil, err
		}
		text, err := render(source)
		if err != nil {
			return nil, fmt.Errorf("cannot describe %s: %w", name, err)
		}
		return text, nil
	}
}

func main() {
	root := flag.String("root", ".", "directory that holds actions.yaml")
	check := flag.Bool("check", false, "write nothing; fail if a page is out of date")
	flag.Parse()

	visit := write
	if *check {
		visit = compare
	}
	var failed error
	for _, p := range pages {
		failed = errors.Join(failed, generate(*root, p, visit))
	}
	if failed != nil {
		fmt.Fprintf(os.Stderr, "error: %v\n", failed)
		os.Exit(1)
	}
}

// generate makes one page and passes it to visit with its path.
func generate(root string, p page, visit func(path string, text []byte) error) error {
	text, err := p.render(root)
	if err != nil {
		return err
	}
	return visit(filepath.Join(root, reference, p.name), text)
}

func write(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}

func compare(path string, text []byte) error {
	is, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !bytes.Equal(is, text) {
		return fmt.Errorf("%s is out of date: run 'make generate'", path)
	}
	return nil
}
