package action

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/backup"
)

// takeBackup copies both databases.
func takeBackup(ctx context.Context, u Unit, p params) (results, error) {
	dir, err := p.text("path")
	if err != nil {
		return nil, err
	}
	keep, err := p.count("keep", backup.DefaultKeep)
	if err != nil {
		return nil, err
	}
	path, manifest, err := u.Backup.Take(ctx, cmp.Or(dir, u.Backup.Files.Paths.Backups), keep)
	if err != nil {
		return nil, err
	}
	found := results{"backup": path, "taken": manifest.Taken.Format(time.RFC3339)}
	for _, x := range manifest.Databases {
		found["ovn"+x.Name.Short()] = fmt.Sprintf("%d bytes from the %s of member %s, cluster %s, term %d, index %d, schema %s; loaded, and read back",
			x.Size, x.Source, x.Server.Short(), x.Cluster, x.Term, x.Index, x.Schema)
		if x.Source == backup.FromFile {
			found["warnings"] += lines([]string{x.Name.Short() + ": this unit's server serves nothing; the copy is of its file, and other units may have newer data"})
		}
	}
	return found, nil
}

// count reads a number of 1 or more.
func (p params) count(key string, otherwise int) (int, error) {
	switch v := p[key].(type) {
	case nil:
		return otherwise, nil
	case json.Number:
		if n, err := v.Int64(); err == nil && n >= 1 && n <= 1<<20 {
			return int(n), nil
		}
	}
	return 0, fmt.Errorf("parameter %s is %v: it takes a number, 1 or more", key, p[key])
}
