package ovn

import (
	"os"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// FileSize is that of the database file in bytes; 0 where it can't be told.
func FileSize(p ovndb.Paths, d ovndb.Database) int64 { return sizeOf(p.File(d)) }

func sizeOf(path string) int64 {
	stat, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return stat.Size()
}
