// Command pack writes the charm file that Juju deploys: the binary as dispatch, the charm's YAML files, and
// manifest.yaml with the binary's architecture only. The same sources give the same bytes.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	var o options
	flag.StringVar(&o.root, "root", ".", "directory that holds metadata.yaml")
	flag.StringVar(&o.dispatch, "dispatch", "", "static ELF binary that becomes dispatch")
	flag.StringVar(&o.arch, "arch", "amd64", "what the binary is for, as Go names it: "+archNames())
	flag.StringVar(&o.version, "version", "", "version that juju status shows; one line")
	flag.StringVar(&o.out, "out", "", "charm file to write")
	flag.Parse()

	if flag.NArg() > 0 || o.dispatch == "" || o.version == "" || o.out == "" {
		flag.Usage()
		os.Exit(2)
	}
	sum, err := pack(o)
	if err != nil {
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		os.Exit(1)
	}
	fmt.Printf("%s  %s\n", sum, o.out)
}
