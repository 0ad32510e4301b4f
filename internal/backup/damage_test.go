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

// flip changes the byte at an offset; from the end if it is negative.
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

// sealed gives a manifest that was changed the checksum that it then has.
func sealed(change func([]byte) []byte) func([]byte) []byte {
	return func(text []byte) []byte {
		var m Manifest
		if text = change(text); json.Unmarshal(text, &m) != nil {
			return nil
		}
		return bytes.Replace(text, []byte(m.Checksum), []byte(seal(text, m.Checksum)), 1)
	}
}

// What a restore looks at before it stops anything: the file that is not what was written is
// named, and what is the matter with it.
func TestBackupThatIsDamagedAnywhereIsRefusedByName(t *testing.T) {
	t.Parallel()
	const copied, manifest = "ovnnb_db.db.gz", manifestName
	for name, damage := range map[string]struct {
		file  string
		spoil func([]byte) []byte
		says  string
	}{
		"header":              {copied, flip(0), copied + ": gzip: invalid header"},
		"body":                {copied, flip(30), copied},
		"checksum":            {copied, flip(-8), copied + ": gzip: invalid checksum"},
		"length":              {copied, flip(-1), copied + ": gzip: invalid checksum"},
		"cut off":             {copied, cut(20), copied + ": unexpected EOF"},
		"empty":               {copied, func([]byte) []byte { return nil }, copied + ": EOF"},
		"more behind it":      {copied, func(text []byte) []byte { return append(text, text...) }, copied + ": it is damaged: it holds more than the 1485 bytes"},
		"manifest cut off":    {manifest, cut(20), "cannot read the manifest of the backup"},
		"manifest's hash":     {manifest, sealed(replace(`"sha256": "`, `"sha256": "0`)), copied + " is damaged: it holds"},
		"manifest's size":     {manifest, sealed(replace(`"size": `, `"size": 9`)), copied + " is damaged: it holds"},
		"smaller than it is":  {manifest, sealed(replace(`"size": 1485`, `"size": 1484`)), copied + ": it is damaged: it holds more than the 1484 bytes"},
		"size below 0":        {manifest, sealed(replace(`"size": `, `"size": -`)), "it states a size of -1485 bytes"},
		"size of no database": {manifest, sealed(replace(`"size": `, `"size": 999999999999`)), "it states a size of 9999999999991485 bytes"},
		"control characters":  {manifest, sealed(replace(`"unit": "`, `"unit": "\u001b[2J`)), `a text in it is too long, or has control characters: "\x1b[2Jovn-central/0"`},
		"text without an end": {manifest, sealed(replace(`"unit": "`, `"unit": "`+strings.Repeat("x", 300))), "a text in it is too long"},
		"more than a text":    {manifest, func(text []byte) []byte { return append(text, bytes.Repeat([]byte(" "), maxManifest)...) }, "has more than 1048576 bytes"},
		"manifest's format":   {manifest, sealed(replace(`"format": 1`, `"format": 9`)), "its format is 9, not 1"},
		"manifest's file":     {manifest, sealed(replace(copied, "other.gz")), "other.gz: no such file"},
		"file outside of it":  {manifest, sealed(replace(copied, "../"+copied)), "a file that it names is missing"},
		"manifest's database": {manifest, sealed(replace(string(ovndb.NB), "Other")), "the backup has no copy of OVN_Northbound"},
		"manifest's schema":   {manifest, replace(`"schema-version": "7`, `"schema-version": "5`), "it is damaged: its SHA-256 is"},
		"manifest's spaces":   {manifest, replace("  ", " "), "it is damaged: its SHA-256 is"},
		"more behind it too":  {manifest, func(text []byte) []byte { return append(text, '\n') }, "it is damaged: its SHA-256 is"},
		"no checksum":         {manifest, replace(`"checksum"`, `"other"`), `it states ""`},
	} {
		dir := whole(t)
		file := filepath.Join(dir, damage.file)
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(file, damage.spoil(text), 0o600))
		err = check(t.Context(), dir)
		require.ErrorContains(t, err, damage.says, name)
		if damage.says != "the backup has no copy of OVN_Northbound" {
			assert.ErrorContains(t, err, dir, name)
		}
	}
}

// whole makes a backup that nothing is the matter with, of one database.
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
	require.NoError(t, Manifest{Format: format, Unit: "ovn-central/0", OVN: "23.03.1-1", OVS: "3.1.0-2", Databases: []Database{x}}.write(dir))
	require.NoError(t, check(t.Context(), dir), "the premise")
	return dir
}

// Whichever byte of a backup is another one than was written, it is refused.
func TestBackupOfWhichAnyByteIsAnotherIsRefused(t *testing.T) {
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
