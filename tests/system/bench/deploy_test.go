package bench

import (
	"bytes"
	"fmt"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/systemd"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// From the first start hook to two clusters of three members, against the bare commands on machines of the same lab,
// and against the same with the packages' services, which the charm must use. Bound: 3 times the former. The charm also
// waits for its certificates.
func BenchmarkDeploymentAgainstBareCommands(b *testing.B) {
	var charm, active, bare, packaged time.Duration
	hooks := 0
	for b.Loop() {
		clusters, all, ran := deployed(b)
		charm, active, hooks = charm+clusters, active+all, hooks+ran
		bare += commanded(b, server)
		packaged += commanded(b, service)
	}
	b.ReportMetric(charm.Seconds()/float64(b.N), "s-charm")
	b.ReportMetric(active.Seconds()/float64(b.N), "s-until-active")
	b.ReportMetric(bare.Seconds()/float64(b.N), "s-bare-commands")
	b.ReportMetric(packaged.Seconds()/float64(b.N), "s-with-services")
	b.ReportMetric(float64(charm)/float64(bare), "times-bare-commands")
	b.ReportMetric(float64(charm)/float64(packaged), "times-with-services")
	b.ReportMetric(float64(hooks)/float64(b.N), "hooks")
}

// deployed returns the time until there are clusters, the time until all units are active, and the number of hooks.
func deployed(b *testing.B) (clusters, active time.Duration, hooks int) {
	b.Helper()
	first := &firstStart{}
	l := empty(b, lab.Options{Log: first})
	_, err := l.RelateCA(b.Context())
	require.NoError(b, err)
	var units []*lab.Unit
	for range 3 {
		u, err := l.AddUnitWith(b.Context(), lab.AddOptions{Fresh: true, NoHooks: true})
		require.NoError(b, err)
		units = append(units, u)
	}
	settled := make(chan error, 1)
	go func() { settled <- l.Settle(b.Context()) }()
	require.Eventually(b, func() bool { return clustered(b, units) }, 2*time.Minute, look)
	clusters = time.Since(first.time())
	require.Eventually(b, func() bool { return working(units) }, 2*time.Minute, look)
	active = time.Since(first.time())
	require.NoError(b, <-settled)
	for _, u := range units {
		hooks += len(u.Hooks())
	}
	return clusters, active, hooks
}

const look = 5 * time.Millisecond

func clustered(b *testing.B, units []*lab.Unit) bool {
	b.Helper()
	for _, u := range units {
		for _, db := range lab.Databases {
			status, err := u.Status(b.Context(), db)
			if err != nil || !strings.Contains(status, "\nStatus: cluster member\n") || strings.Contains(status, "\nLeader: unknown\n") {
				return false
			}
		}
	}
	return true
}

type firstStart struct {
	mu sync.Mutex
	at time.Time
}

// Write implements [io.Writer].
func (f *firstStart) Write(line []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.at.IsZero() && bytes.HasSuffix(bytes.TrimSpace(line), []byte(" start")) {
		f.at = time.Now()
	}
	return len(line), nil
}

func (f *firstStart) time() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.at
}

// commanded returns the time of the bare commands: one machine makes the clusters, then the others join at the same
// time.
func commanded(b *testing.B, start func(*lab.Unit, lab.DB) string) time.Duration {
	b.Helper()
	l := empty(b, lab.Options{})
	var units []*lab.Unit
	for range 3 {
		u, err := l.AddUnitWith(b.Context(), lab.AddOptions{NoDatabases: true, NoHooks: true})
		require.NoError(b, err)
		here := netip.MustParseAddr(u.Address())
		options := systemd.Defaults{Local: here, Remote: here, Credentials: ovndb.Paths{Etc: u.SysconfDir() + "/ovn"}.Credentials()}
		require.NoError(b, os.WriteFile(u.SysconfDir()+"/default/ovn-central", options.Render(), 0o644))
		units = append(units, u)
	}
	begun := time.Now()
	run := func(u *lab.Unit, through *lab.Unit) {
		_, err := u.Exec(b.Context(), "sh", "-ec", commands(u, through, start))
		require.NoError(b, err)
	}
	run(units[0], nil)
	var group sync.WaitGroup
	for _, u := range units[1:] {
		group.Go(func() { run(u, units[0]) })
	}
	group.Wait()
	require.Eventually(b, func() bool { return clustered(b, units) }, time.Minute, look)
	return time.Since(begun)
}

func commands(u, through *lab.Unit, start func(*lab.Unit, lab.DB) string) string {
	var lines strings.Builder
	for db, port := range map[lab.DB]int{lab.NB: 6643, lab.SB: 6644} {
		here := fmt.Sprintf("ssl:%s:%d", u.Address(), port)
		if through == nil {
			fmt.Fprintf(&lines, "ovsdb-tool create-cluster %s /usr/share/ovn/ovn-%s.ovsschema %s\n", u.DBFile(db), db, here)
		} else {
			fmt.Fprintf(&lines, "ovsdb-tool join-cluster %s %s %s ssl:%s:%d\n", u.DBFile(db), db.Schema(), here, through.Address(), port)
		}
		lines.WriteString(start(u, db))
		fmt.Fprintf(&lines, "ovsdb-client --timeout=30 wait unix:%s.sock %s connected\n", stem(u, db), db.Schema())
	}
	return lines.String()
}

func stem(u *lab.Unit, db lab.DB) string { return u.RunDir() + "/ovn" + string(db) + "_db" }

func server(u *lab.Unit, db lab.DB) string {
	run, etc := stem(u, db), u.SysconfDir()+"/ovn/"
	return fmt.Sprintf("ovsdb-server --detach --no-chdir --log-file=%s.log --pidfile=%s.pid --unixctl=%s.ctl --remote=punix:%s.sock "+
		"--private-key=%skey_host --certificate=%scert_host --ca-cert=%sovn-central.crt %s >/dev/null 2>&1\n",
		run, run, run, run, etc, etc, etc, u.DBFile(db))
}

// service starts a server by the packages' ovn-ctl.
func service(u *lab.Unit, db lab.DB) string {
	return fmt.Sprintf("systemctl start ovn-ovsdb-server-%s\nwhile ! test -S %s.sock; do sleep 0.01; done\n", db, stem(u, db))
}
