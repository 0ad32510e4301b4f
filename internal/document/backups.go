package document

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/backup"
)

// Backups is a table of backups, for people.
func Backups(all []backup.Listed) string {
	if len(all) == 0 {
		return "there are no backups\n"
	}
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "taken\tunit\tovn\tbytes\tpath")
	for _, x := range all {
		if x.Problem != "" {
			fmt.Fprintf(table, "unreadable\t\t\t\t%s\n", x.Path)
			continue
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%s\n", x.Taken.Format(time.RFC3339), x.Unit, x.OVN, x.Size, x.Path)
	}
	_ = table.Flush() // into memory
	return b.String()
}
