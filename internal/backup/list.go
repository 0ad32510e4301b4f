package backup

import (
	"context"
	"crypto/sha256"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/ctxio"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// Listed is a backup that [Service.List] found.
type Listed struct {
	Path string `json:"path" yaml:"path"`
	// Taken, Unit, OVN and OVS are those of the manifest. Size is the databases' unpacked size in bytes.
	Taken     time.Time `json:"taken" yaml:"taken"`
	Unit      string    `json:"unit" yaml:"unit"`
	OVN       string    `json:"ovn-version" yaml:"ovn-version"`
	OVS       string    `json:"ovs-version" yaml:"ovs-version"`
	Size      int64     `json:"size" yaml:"size"`
	Databases []Copy    `json:"databases" yaml:"databases"`
	// Loads reports whether a server of the installed packages loads each copy: the copy was loaded when it was made,
	// has not changed since, and its schema is not newer. Otherwise Problem has the reason.
	Loads   bool   `json:"loads" yaml:"loads"`
	Problem string `json:"problem,omitempty" yaml:"problem,omitempty"`
}

// Copy is one database of a listed backup.
type Copy struct {
	Name    ovndb.Database `json:"name" yaml:"name"`
	Cluster raft.ID        `json:"cluster-id" yaml:"cluster-id"`
	Schema  string         `json:"schema-version" yaml:"schema-version"`
}

// List returns the backups in dir, newest first. It reads the packed copies, and unpacks none.
func (s *Service) List(ctx context.Context, dir string) ([]Listed, error) {
	paths, err := list(dir)
	if err != nil {
		return nil, err
	}
	var all []Listed
	for _, path := range slices.Backward(paths) {
		m, err := Read(path)
		found := Listed{Path: path, Taken: m.Taken, Unit: m.Unit, OVN: m.OVN, OVS: m.OVS}
		for _, x := range m.Databases {
			found.Size += x.Size
			found.Databases = append(found.Databases, Copy{x.Name, x.Cluster, x.Schema})
		}
		if err == nil {
			err = s.loads(ctx, path, m)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if found.Loads = err == nil; !found.Loads {
			found.Problem = err.Error()
		}
		all = append(all, found)
	}
	return all, nil
}

// loads returns an error if a server of the installed packages does not load the backup.
func (s *Service) loads(ctx context.Context, path string, m Manifest) error {
	for _, d := range ovndb.Databases() {
		x, err := m.Of(d)
		if err != nil {
			return err
		}
		packed, err := checksum(ctx, filepath.Join(path, x.File))
		if err == nil && packed != x.Packed {
			err = wrongChecksum(x.File, packed, x.Packed)
		}
		if err != nil {
			return err
		}
		installed, err := s.Files.SchemaVersion(d)
		if err != nil {
			return err
		}
		newer, err := ovsctl.Newer(x.Schema, installed)
		if newer {
			err = finding.Reason{
				Code: finding.BackupTooNew, Name: d.Short(), Value: x.Schema, Because: []finding.Reason{finding.Quote(installed)},
			}.Err()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func checksum(ctx context.Context, path string) (string, error) {
	file, err := openRegular(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }() // the file is only read
	sum := sha256.New()
	_, err = io.Copy(sum, ctxio.NewReader(ctx, file))
	return text(sum), err
}

// Nearest returns the path of the listed backup that is most similar to a path, but never that path itself. If any
// other backup loads, it returns one that loads. The path may have a typing error, lack its folder, or name a
// file in the backup. Nearest returns an empty text if no other backup is listed.
func Nearest(all []Listed, path string) string {
	all = slices.DeleteFunc(slices.Clone(all), func(x Listed) bool { return x.Path == path })
	if loads := slices.DeleteFunc(slices.Clone(all), func(x Listed) bool { return !x.Loads }); len(loads) > 0 {
		all = loads
	}
	nearest, most := "", -1
	for _, x := range all {
		if x.Path == filepath.Dir(path) {
			return x.Path
		}
		if n := shared(filepath.Base(x.Path), filepath.Base(path)); n > most {
			nearest, most = x.Path, n
		}
	}
	return nearest
}

// shared returns the length of the common beginning of a and b, in bytes.
func shared(a, b string) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}
