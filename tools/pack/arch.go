package main

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// arch is a processor architecture for which the charm is built.
type arch struct {
	juju    string // the name in manifest.yaml, which is Debian's
	machine elf.Machine
	order   elf.Data
}

// archs are the architectures of Ubuntu's OVN packages, by their Go names. Juju
// knows more (github.com/juju/utils/v3/arch).
var archs = map[string]arch{
	"amd64":   {juju: "amd64", machine: elf.EM_X86_64, order: elf.ELFDATA2LSB},
	"arm64":   {juju: "arm64", machine: elf.EM_AARCH64, order: elf.ELFDATA2LSB},
	"ppc64le": {juju: "ppc64el", machine: elf.EM_PPC64, order: elf.ELFDATA2LSB},
	"s390x":   {juju: "s390x", machine: elf.EM_S390, order: elf.ELFDATA2MSB},
}

func archNames() string {
	return strings.Join(slices.Sorted(maps.Keys(archs)), ", ")
}

func lookupArch(name string) (arch, error) {
	a, ok := archs[name]
	if !ok {
		return arch{}, fmt.Errorf("architecture %q is not one of %s", name, archNames())
	}
	return a, nil
}

// check returns an error unless the binary runs on this architecture without shared libraries and a loader.
func (a arch) check(binary []byte) error {
	f, err := elf.NewFile(bytes.NewReader(binary))
	if err != nil {
		return fmt.Errorf("cannot read it as an ELF file: %w", err)
	}
	if f.Machine != a.machine || f.Data != a.order || f.Class != elf.ELFCLASS64 {
		return fmt.Errorf("it is for %v %v %v, not for %s", f.Machine, f.Class, f.Data, a.juju)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return errors.New("it is linked dynamically; build it with CGO_ENABLED=0")
		}
	}
	return nil
}
