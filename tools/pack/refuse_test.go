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

func TestPackRefuses(t *testing.T) {
	tests := map[string]struct {
		spoil func(t *testing.T, o *options)
		want  string
	}{
		"an architecture that the charm isn't built for": {
			spoil: func(_ *testing.T, o *options) { o.arch = "riscv64" },
			want:  `architecture "riscv64" is not one of amd64, arm64, ppc64le, s390x`,
		},
		"a binary of another architecture": {
			spoil: func(_ *testing.T, o *options) { o.arch = "s390x" },
			want:  "it is for EM_X86_64 ELFCLASS64 ELFDATA2LSB, not for s390x",
		},
		"a binary that needs a loader": {
			spoil: func(t *testing.T, o *options) {
				require.NoError(t, os.WriteFile(o.dispatch, elfFile(t, archs["amd64"], elf.PT_INTERP), 0o755))
			},
			want: "it is linked dynamically; build it with CGO_ENABLED=0",
		},
		"a script as dispatch": {
			spoil: func(t *testing.T, o *options) {
				require.NoError(t, os.WriteFile(o.dispatch, []byte("#!/bin/sh\nexit 0\n"), 0o755))
			},
			want: "cannot read it as an ELF file",
		},
		"a binary that isn't there": {
			spoil: func(_ *testing.T, o *options) { o.dispatch += "-gone" },
			want:  "no such file or directory",
		},
		"a version of two lines": {
			spoil: func(_ *testing.T, o *options) { o.version = "1\n2" },
			want:  `version "1\n2" is not one line`,
		},
		"a hook that isn't the binary": {
			spoil: func(t *testing.T, o *options) {
				o.root = copyOfSources(t)
				require.NoError(t, os.WriteFile(filepath.Join(o.root, "hooks", "extra"), nil, 0o755))
			},
			want: "hooks/extra is not a symbolic link to ../dispatch",
		},
		"a hook that leads out of the charm": {
			spoil: func(t *testing.T, o *options) {
				o.root = copyOfSources(t)
				require.NoError(t, os.Symlink("/bin/true", filepath.Join(o.root, "hooks", "extra")))
			},
			want: "hooks/extra is not a symbolic link to ../dispatch",
		},
		"a charm without actions.yaml": {
			spoil: func(t *testing.T, o *options) {
				o.root = copyOfSources(t)
				require.NoError(t, os.Remove(filepath.Join(o.root, "actions.yaml")))
			},
			want: "actions.yaml: no such file or directory",
		},
		"a manifest without the architecture": {
			spoil: func(t *testing.T, o *options) {
				o.root = copyOfSources(t)
				manifest := "bases: [{name: ubuntu, channel: '24.04', architectures: [arm64]}]\n"
				require.NoError(t, os.WriteFile(filepath.Join(o.root, "manifest.yaml"), []byte(manifest), 0o644))
			},
			want: "base ubuntu@24.04/stable on arm64 is not for amd64",
		},
		"metadata that Juju refuses": {
			spoil: func(t *testing.T, o *options) {
				o.root = copyOfSources(t)
				require.NoError(t, os.WriteFile(filepath.Join(o.root, "metadata.yaml"), []byte("name: 7up\n"), 0o644))
			},
			want: "cannot read it back",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			o := optionsFor(t, "amd64")
			test.spoil(t, &o)
			_, err := pack(o)
			require.ErrorContains(t, err, test.want)
			assert.ErrorContains(t, err, "cannot pack "+o.out)
			assertNothingIn(t, filepath.Dir(o.out))
		})
	}
}

func TestARefusedPackLeavesTheEarlierCharmAlone(t *testing.T) {
	o := optionsFor(t, "amd64")
	_, err := pack(o)
	require.NoError(t, err)
	before := readFile(t, o.out)

	o.root = copyOfSources(t)
	require.NoError(t, os.WriteFile(filepath.Join(o.root, "metadata.yaml"), []byte("name: 7up\n"), 0o644))
	_, err = pack(o)
	require.Error(t, err)
	assert.Equal(t, before, readFile(t, o.out))
	files, err := os.ReadDir(filepath.Dir(o.out))
	require.NoError(t, err)
	assert.Len(t, files, 1)
}

// assertNothingIn asserts that dir is empty or was never made.
func assertNothingIn(t *testing.T, dir string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if !os.IsNotExist(err) {
		require.NoError(t, err)
	}
	assert.Empty(t, files)
}

// elfFile is the smallest ELF file for a: a header and one program header.
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
