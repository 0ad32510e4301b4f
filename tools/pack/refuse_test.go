package main

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPack_refuses(t *testing.T) {
	// write writes a file of a copy of the sources.
	write := func(o *options, name, text string) {
		o.root = copyOfSources(t)
		require.NoError(t, os.WriteFile(filepath.Join(o.root, name), []byte(text), 0o755))
	}
	for name, test := range map[string]struct {
		spoil func(o *options)
		want  string
	}{
		"unknown architecture": {func(o *options) { o.arch = "riscv64" }, `"riscv64"`},
		"binary of another": {
			func(o *options) { o.arch = "s390x" },
			"EM_X86_64 ELFCLASS64 ELFDATA2LSB, not for s390x",
		},
		"binary with a loader": {func(o *options) {
			require.NoError(t, os.WriteFile(o.dispatch, elfFile(t, archs["amd64"], elf.PT_INTERP), 0o755))
		}, "it is linked dynamically"},
		"script": {func(o *options) {
			require.NoError(t, os.WriteFile(o.dispatch, []byte("#!/bin/sh\nexit 0\n"), 0o755))
		}, "ELF"},
		"no binary":            {func(o *options) { o.dispatch += "-gone" }, "no such file or directory"},
		"version of two lines": {func(o *options) { o.version = "1\n2" }, `"1\n2"`},
		"hook that is a file": {
			func(o *options) { write(o, "hooks/extra", "") },
			"hooks/extra ",
		},
		"hook that leads out": {func(o *options) {
			o.root = copyOfSources(t)
			require.NoError(t, os.Symlink("/bin/true", filepath.Join(o.root, "hooks/extra")))
		}, "hooks/extra "},
		"no actions.yaml": {func(o *options) {
			o.root = copyOfSources(t)
			require.NoError(t, os.Remove(filepath.Join(o.root, "actions.yaml")))
		}, "actions.yaml: "},
		"manifest without amd64": {func(o *options) {
			write(o, "manifest.yaml", "bases: [{name: ubuntu, channel: '24.04', architectures: [arm64]}]\n")
		}, "ubuntu@24.04/stable on arm64 "},
		"invalid metadata": {func(o *options) { write(o, "metadata.yaml", "name: 7up\n") }, "cannot read it back"},
	} {
		for _, earlier := range []bool{false, true} { // an earlier file stays as it was
			o := optionsFor(t, "amd64")
			var before []byte
			if earlier {
				_, err := pack(o)
				require.NoError(t, err)
				before = readFile(t, o.out)
			}
			test.spoil(&o)
			_, err := pack(o)
			require.ErrorContains(t, err, test.want, name)
			assert.ErrorContains(t, err, o.out)
			files, err := filepath.Glob(filepath.Join(filepath.Dir(o.out), "*"))
			require.NoError(t, err)
			if !earlier {
				assert.Empty(t, files, name)
				continue
			}
			assert.Equal(t, []string{o.out}, files, name)
			assert.Equal(t, before, readFile(t, o.out))
		}
	}
}

// elfFile returns the smallest ELF file for a: a header and one program header.
func elfFile(t *testing.T, a arch, program elf.ProgType) []byte {
	t.Helper()
	order := binary.ByteOrder(binary.LittleEndian)
	if a.order == elf.ELFDATA2MSB {
		order = binary.BigEndian
	}
	const headerSize, programSize = 64, 56 // of ELF64: elf(5)
	header := elf.Header64{
		Type: uint16(elf.ET_EXEC), Machine: uint16(a.machine), Version: uint32(elf.EV_CURRENT),
		Phoff: headerSize, Ehsize: headerSize, Phentsize: programSize, Phnum: 1,
	}
	copy(header.Ident[:], elf.ELFMAG)
	header.Ident[elf.EI_CLASS] = byte(elf.ELFCLASS64)
	header.Ident[elf.EI_DATA] = byte(a.order)
	header.Ident[elf.EI_VERSION] = byte(elf.EV_CURRENT)

	var out bytes.Buffer
	require.NoError(t, binary.Write(&out, order, header))
	require.NoError(t, binary.Write(&out, order, elf.Prog64{Type: uint32(program)}))
	return out.Bytes()
}
