package backup

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"github.com/ovn-central/ovn-central-operator/internal/atomicfile"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

const (
	manifestName = "manifest.json"
	// format is the version of the manifest. Additions keep it; changes of meaning raise it.
	format = 1
	// maxManifest limits a manifest, in bytes, and maxText each text in it. maxSize limits a database, in bytes: no
	// server has more memory.
	maxManifest = 1 << 20
	maxText     = 255
	maxSize     = 1 << 40
)

// Manifest describes a backup's content.
type Manifest struct {
	Format int `json:"format"`
	// Taken is when the backup was taken, in UTC, to the second. Unit is the unit that made it.
	Taken time.Time `json:"taken"`
	Unit  string    `json:"unit"`
	// OVN and OVS are the versions of the installed packages.
	OVN       string     `json:"ovn-version"`
	OVS       string     `json:"ovs-version"`
	Databases []Database `json:"databases"`
	// Checksum is the SHA-256, in hex, of the whole file with zeros in place of the checksum.
	Checksum string `json:"checksum"`
}

// unsealed replaces the checksum while it is computed.
var unsealed = strings.Repeat("0", 2*sha256.Size)

// seal returns the checksum of a manifest's text, which contains the checksum present.
func seal(text []byte, present string) string {
	field := func(sum string) []byte { return []byte(`"checksum": "` + sum + `"`) }
	sum := sha256.Sum256(bytes.Replace(text, field(present), field(unsealed), 1))
	return hex.EncodeToString(sum[:])
}

// Source is where a copy's content came from.
type Source string

// The sources.
const (
	// Served is the content that the server served. All of it was committed.
	Served Source = "server"
	// FromFile is the file of a server that did not serve. Its newest entries may be uncommitted.
	FromFile Source = "file"
)

// Database is the copy of one database.
type Database struct {
	Name ovndb.Database `json:"name"`
	// File is the name of the copy, a standalone database packed by gzip, next to the manifest.
	File   string `json:"file"`
	Source Source `json:"source"`
	// Cluster and Server are the IDs of the copied server. Term and Index are those of the newest entry of its log when
	// the copy began. The copy has all entries up to that one, and may have more.
	Cluster raft.ID `json:"cluster-id"`
	Server  raft.ID `json:"server-id"`
	Term    uint64  `json:"term"`
	Index   uint64  `json:"index"`
	// Schema is the version of the database's schema.
	Schema string `json:"schema-version"`
	// Size is the size of the unpacked copy in bytes, SHA256 its checksum in hex.
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
	// Packed is the SHA-256 of File.
	Packed string `json:"packed-sha256"`
}

// Of returns the copy of database d.
func (m Manifest) Of(d ovndb.Database) (Database, error) {
	for _, x := range m.Databases {
		if x.Name == d {
			return x, nil
		}
	}
	return Database{}, finding.Reason{Code: finding.NoCopyOf, Name: string(d)}.Err()
}

func (m Manifest) write(dir string) error {
	m.Checksum = unsealed
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("cannot write the manifest: %w", err)
	}
	text = append(text, '\n')
	text = bytes.Replace(text, []byte(unsealed), []byte(seal(text, unsealed)), 1)
	return atomicfile.Write(filepath.Join(dir, manifestName), text, 0o600)
}

// Read reads the manifest of the backup in the directory path. [Unpack] checks the copies.
func Read(path string) (Manifest, error) {
	var m Manifest
	text, err := readRegular(filepath.Join(path, manifestName), maxManifest)
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err == nil && m.Format != format {
		err = finding.Reason{Code: finding.FormatUnknown, Count: m.Format, Total: format}.Err()
	}
	if err == nil && m.Checksum != seal(text, m.Checksum) {
		err = finding.Reason{
			Code: finding.ManifestDamaged, Name: seal(text, m.Checksum), Value: fmt.Sprintf("%.70q", m.Checksum),
		}.Err()
	}
	if err == nil {
		err = m.check()
	}
	if err != nil {
		return Manifest{}, fmt.Errorf("cannot read the manifest of the backup %s: %w", path, err)
	}
	return m, nil
}

// check rejects manifests that [Service.Take] did not write. Manifests are shown to people, and name files to read.
func (m Manifest) check() error {
	texts := []string{m.Unit, m.OVN, m.OVS}
	for _, x := range m.Databases {
		texts = append(texts, string(x.Name), x.File, string(x.Source), string(x.Cluster), string(x.Server), x.Schema,
			x.SHA256, x.Packed)
		switch {
		case x.File == "" || x.File != filepath.Base(x.File):
			return finding.Reason{Code: finding.NamedFileMissing}.Err()
		case x.Size < 0 || x.Size > maxSize:
			return finding.Reason{Code: finding.SizeStated, Count: int(x.Size)}.Err()
		}
	}
	for _, text := range texts {
		if len(text) > maxText || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
			return finding.Reason{Code: finding.TextUnusable, Value: fmt.Sprintf("%.60q", text)}.Err()
		}
	}
	return nil
}
