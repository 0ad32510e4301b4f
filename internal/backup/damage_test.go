package backup

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// flip changes the byte at an offset; from the end where it is negative.
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

// What a restore looks at before it stops anything: whatever byte of a backup is another one
// than was written, the file is named.
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
		"more behind it":      {copied, func(text []byte) []byte { return append(text, text...) }, copied + " is damaged: it holds"},
		"manifest cut off":    {manifest, cut(20), "cannot read the manifest of the backup"},
		"manifest's hash":     {manifest, replace(`"sha256": "`, `"sha256": "0`), copied + " is damaged: it holds"},
		"manifest's size":     {manifest, replace(`"size": `, `"size": 9`), copied + " is damaged: it holds"},
		"manifest's format":   {manifest, replace(`"format": 1`, `"format": 9`), "its format is 9, not 1"},
		"manifest's file":     {manifest, replace(copied, "other.gz"), "other.gz: no such file"},
		"file outside of it":  {manifest, replace(copied, "../"+copied), "a file that it names is not beside it"},
		"manifest's database": {manifest, replace(string(ovndb.NB), "Other"), "the backup has no copy of OVN_Northbound"},
	} {
		dir := filepath.Join(t.TempDir(), "20261123T100000Z")
		require.NoError(t, os.Mkdir(dir, 0o700))
		raw := filepath.Join(t.TempDir(), "raw")
		require.NoError(t, os.WriteFile(raw, bytes.Repeat([]byte("OVSDB JSON 1 2\n"), 99), 0o600))
		x := Database{Name: ovndb.NB, File: copied}
		var err error
		x.Size, x.SHA256, err = pack(t.Context(), raw, filepath.Join(dir, copied))
		require.NoError(t, err)
		require.NoError(t, Manifest{Format: format, Databases: []Database{x}}.write(dir))
		require.NoError(t, check(t.Context(), dir), "the premise")

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

func check(ctx context.Context, dir string) error {
	m, err := Read(dir)
	if err != nil {
		return err
	}
	return Unpack(ctx, dir, m, ovndb.NB, "")
}
