package client

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/tests/harness/writes"
	"github.com/ovn-central/ovn-central-operator/tests/system/machines"
)

//go:embed write.sh
var writeScript []byte

// target is a table of a database that ovn-northd leaves alone. column has a row's number.
type target struct{ database, remotes, table, column, row string }

var targets = []target{
	{"OVN_Northbound", "nb", "DHCP_Options", "external_ids", `{"cidr":"192.0.2.0/24","external_ids":["map",[["row","NUMBER"]]]}`},
	{"OVN_Southbound", "sb", "Controller_Event", "event_info", `{"event_type":"empty_lb_backends","event_info":["map",[["row","NUMBER"]]]}`},
}

// StartWriter starts to write to both databases, a row a second at most, until [Client.StopWriter].
func (c *Client) StartWriter(ctx context.Context) error {
	if err := c.Machine.WriteFile(dir+"/write.sh", writeScript, 0o755); err != nil {
		return err
	}
	for _, t := range targets {
		_, err := c.Machine.Exec(ctx, "systemd-run", "--unit=writer-"+t.remotes, dir+"/write.sh",
			t.database, t.remotes, t.table, t.row)
		if err != nil {
			return fmt.Errorf("cannot start the writer to %s: %w", t.database, err)
		}
	}
	c.writing = true
	return nil
}

// StopWriter ends the writing. A write that has not ended counts as one that was not acknowledged.
func (c *Client) StopWriter(ctx context.Context) error {
	if !c.writing {
		return nil
	}
	c.writing = false
	_, err := c.Machine.Exec(ctx, "systemctl", "stop", "writer-nb", "writer-sb")
	return err
}

// Acknowledged returns the numbers of the writes that were acknowledged so far, by database, oldest first.
func (c *Client) Acknowledged() map[string][]string {
	all := map[string][]string{}
	for _, t := range targets {
		for _, a := range c.log(t).Acknowledged {
			all[t.database] = append(all[t.database], a.Row)
		}
	}
	return all
}

// Stored returns the numbers of the writer's rows in the databases' files on the disk of a machine, by database.
func Stored(ctx context.Context, m *machines.Machine) (map[string]map[string]bool, error) {
	all := map[string]map[string]bool{}
	for _, t := range targets {
		answer, err := m.Shell(ctx, `copy=$(mktemp -d)
trap 'rm -r "$copy"' EXIT
ovsdb-tool cluster-to-standalone "$copy/db" "/var/lib/ovn/ovn$1_db.db"
ovsdb-tool query "$copy/db" "$2"`, t.remotes, t.query())
		if err != nil {
			return nil, fmt.Errorf("cannot read the file of %s: %w", t.database, err)
		}
		if all[t.database], err = t.numbers(answer); err != nil {
			return nil, fmt.Errorf("cannot read the file of %s: %w", t.database, err)
		}
	}
	return all, nil
}

// Verify reads back what was written.
func (c *Client) Verify(ctx context.Context) (map[string]writes.Outcome, error) {
	result := map[string]writes.Outcome{}
	for _, t := range targets {
		there, err := c.rows(ctx, t)
		if err != nil {
			return nil, fmt.Errorf("cannot read back what was written to %s: %w", t.database, err)
		}
		result[t.database] = c.log(t).Judge(there)
	}
	return result, nil
}

// LongestGap returns the longest time between two acknowledgements, of which the second came after from, by database.
func (c *Client) LongestGap(from time.Time) map[string]time.Duration {
	gaps := map[string]time.Duration{}
	for _, t := range targets {
		gaps[t.database] = c.log(t).LongestGap(from)
	}
	return gaps
}

func (c *Client) rows(ctx context.Context, t target) (map[string]bool, error) {
	remotes, err := c.Machine.ReadFile(dir + "/" + t.remotes)
	if err != nil {
		return nil, err
	}
	command := append([]string{"ovsdb-client", clientTimeout}, tls...)
	answer, err := c.Machine.Exec(ctx, append(command, "transact", strings.TrimSpace(string(remotes)), t.query())...)
	if err != nil {
		return nil, err
	}
	return t.numbers(answer)
}

func (t target) query() string {
	return fmt.Sprintf(`["%s",{"op":"select","table":"%s","where":[],"columns":["%s"]}]`, t.database, t.table, t.column)
}

func (t target) numbers(answer string) (map[string]bool, error) {
	var results []struct {
		Rows []map[string][2]json.RawMessage `json:"rows"`
	}
	if err := json.Unmarshal([]byte(answer), &results); err != nil {
		return nil, err
	}
	found := map[string]bool{}
	for _, result := range results {
		for _, row := range result.Rows {
			var pairs [][2]string
			if err := json.Unmarshal(row[t.column][1], &pairs); err != nil {
				return nil, err
			}
			for _, pair := range pairs {
				if pair[0] == "row" {
					found[pair[1]] = true
				}
			}
		}
	}
	return found, nil
}

// log returns what the writer has recorded so far.
func (c *Client) log(t target) writes.Log {
	acknowledged, _ := c.Machine.ReadFile(dir + "/" + t.remotes + ".acknowledged")
	failed, _ := c.Machine.ReadFile(dir + "/" + t.remotes + ".failed")
	return noted(string(acknowledged), string(failed))
}

// noted reads what write.sh writes: one entry per line, of which the last may be incomplete.
func noted(acknowledged, failed string) (l writes.Log) {
	for line := range strings.Lines(acknowledged) {
		if line, whole := strings.CutSuffix(line, "\n"); whole {
			number, text, _ := strings.Cut(line, " ")
			a := writes.Acknowledgement{Row: number}
			if ms, err := strconv.ParseInt(text, 10, 64); err == nil {
				a.At = time.UnixMilli(ms)
			}
			l.Acknowledged = append(l.Acknowledged, a)
		}
	}
	l.Failed = strings.Count(failed, "\n")
	return l
}
