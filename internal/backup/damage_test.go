package backup

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// flip changes the byte at an offset, which counts from the end if it is negative.
func flip(at int) func([]byte) []byte {
	return func(text []byte) []byte {
		text[(at+len(text))%len(text)] ^= 0xff
		return text
	}
}

func replace(old, with string) func([]byte) []byte {
	return func(text []byte) []byte { return bytes.Replace(text, []byte(old), []byte(with), 1) }
}

func cut(n int) func([]byte) []byte { return func(text []byte) []byte { return text[:len(text)-n] } }

// sealed changes a manifest and gives it its new checksum.
func sealed(change func([]byte) []byte) func([]byte) []byte {
	return func(text []byte) []byte {
		var m Manifest
		if text = change(text); json.Unmarshal(text, &m) != nil {
			return nil
		}
		return bytes.Replace(text, []byte(m.Checksum), []byte(seal(text, m.Checksum)), 1)
	}
}

// A restore makes these checks before it stops anything. The error names the damaged file.
func TestRead_damaged_backup(t *testing.T) {
	t.Parallel()
	const copied = "ovnnb_db.db.gz"
	twice := func(text []byte) []byte { return append(text, text...) }
	spaces := func(text []byte) []byte { return append(text, bytes.Repeat([]byte(" "), maxManifest)...) }
	for file, damages := range map[string]map[string]func([]byte) []byte{
		copied: {
			"header": flip(0), "body": flip(30), "checksum": flip(-8), "length": flip(-1), "cut_off": cut(20),
			"empty": func([]byte) []byte { return nil }, "longer": twice,
		},
		manifestName: {
			"cut_off": cut(20), "longer": twice, "endless": spaces, "spaces": replace("  ", " "),
			"newline":        func(text []byte) []byte { return append(text, '\n') },
			"no_checksum":    replace(`"checksum"`, `"other"`),
			"schema":         replace(`"schema-version": "7`, `"schema-version": "5`),
			"hash":           sealed(replace(`"sha256": "`, `"sha256": "0`)),
			"larger":         sealed(replace(`"size": `, `"size": 9`)),
			"smaller":        sealed(replace(`"size": 1485`, `"size": 1484`)),
			"negative":       sealed(replace(`"size": `, `"size": -`)),
			"too_large":      sealed(replace(`"size": `, `"size": 999999999999`)),
			"control_codes":  sealed(replace(`"unit": "`, `"unit": "\u001b[2J`)),
			"long_text":      sealed(replace(`"unit": "`, `"unit": "`+strings.Repeat("x", 300))),
			"format":         sealed(replace(`"format": 1`, `"format": 9`)),
			"other_file":     sealed(replace(copied, "other.gz")),
			"file_outside":   sealed(replace(copied, "../"+copied)),
			"other_database": sealed(replace(string(ovndb.NB), "Other")),
		},
	} {
		for name, damage := range damages {
			dir := whole(t)
			path := filepath.Join(dir, file)
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(path, damage(text), 0o600))
			err = check(t.Context(), dir)
			require.Error(t, err, file, name)
			if name != "other_database" {
				assert.ErrorContains(t, err, dir, file, name)
			}
		}
	}
}

// whole makes a valid backup of one database.
func whole(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "20261123T100000Z")
	require.NoError(t, os.Mkdir(dir, 0o700))
	raw := filepath.Join(t.TempDir(), "raw")
	require.NoError(t, os.WriteFile(raw, bytes.Repeat([]byte("OVSDB JSON 1 2\n"), 99), 0o600))
	x := Database{Name: ovndb.NB, File: "ovnnb_db.db.gz", Source: Served, Term: 3, Index: 77, Schema: "7.0.0"}
	found, err := pack(t.Context(), raw, filepath.Join(dir, x.File))
	require.NoError(t, err)
	x.Size, x.SHA256, x.Packed = found.size, found.plain, found.packed
	m := Manifest{Format: format, Unit: "ovn-central/0", OVN: "23.03.1-1", OVS: "3.1.0-2", Databases: []Database{x}}
	require.NoError(t, m.write(dir))
	require.NoError(t, check(t.Context(), dir))
	return dir
}

func TestRead_any_changed_byte(t *testing.T) {
	t.Parallel()
	dir := whole(t)
	for _, name := range []string{manifestName, "ovnnb_db.db.gz"} {
		file := filepath.Join(dir, name)
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for i := range text {
			text[i] ^= 0x20
			require.NoError(t, os.WriteFile(file, text, 0o600))
			text[i] ^= 0x20
			require.Error(t, check(t.Context(), dir), "%s: byte %d (%q)", name, i, text[i])
		}
		require.NoError(t, os.WriteFile(file, text, 0o600))
		require.NoError(t, check(t.Context(), dir))
	}
}

func check(ctx context.Context, dir string) error {
	m, err := Read(dir)
	if err != nil {
		return err
	}
	return Unpack(ctx, dir, m, ovndb.NB, "")
}
