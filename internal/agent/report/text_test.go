package report_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/agent/config"
	"github.com/ovn-central/ovn-central-operator/internal/agent/report"
	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/present"
)

func TestStatus_text(t *testing.T) {
	t.Parallel()
	s := report.Status{
		Unit: "ovn-central/0", Mode: config.On, Acting: "ovn-central/0", Acts: true, Term: 3, HeldSeconds: 7500,
		Previous:   "ovn-central/2",
		Southbound: "refused",
		Peers: []report.PeerStatus{
			{Address: "10.0.0.6:16402", Unit: "ovn-central/1", AnsweredSecondsAgo: 0.4},
			{Address: "10.0.0.7:16402", AnsweredSecondsAgo: -1, Error: "refused"},
		},
		Drains: []report.Drain{
			{Node: "compute-1", Text: "empty", ForSeconds: 180, Done: true},
			{Node: "compute-2", Text: "3 gateways", ForSeconds: 4},
			{Node: "compute-3", Text: "nova-compute 2", ForSeconds: 600, Stalled: true},
		},
		Gateways: report.GatewayStatus{
			LookedSecondsAgo: 12, Chassis: 3, Gateways: 40, Planned: 1, AdvisedSeconds: 65,
			Advice: []report.Advice{{
				Gateway: "lrp-1", Before: []string{"c1"}, After: []string{"c1", "c2"},
				Reason: "1 of 2", Neutron: true,
			}},
			HeldDown: []report.HeldDown{{Name: "c3", ForSeconds: 80}}, Left: []string{"lrp-9"},
			Last:    &report.Outcome{SecondsAgo: 180, Gateways: 3, Reasons: []string{"absent"}},
			Orphans: []finding.Document{{Message: "c4"}},
		},
	}
	facts := []string{
		`ovn-central/0 .*\b3, .* 2h5m.* ovn-central/2$`, `: on$`, `^Southbound .*: refused$`,
		`10\.0\.0\.6:16402 ovn-central/1: .* 400ms`, `10\.0\.0\.7:16402 : refused$`,
		`compute-1 .* 3m$`, `compute-2: 3 gateways, .* 4s$`, `compute-3 STALLED: nova-compute 2, .* 10m$`,
		`\b40 .*\b3 chassis.* 12s\b`, `\b1m: 1 `, `^  lrp-1: c1 -> c1,c2 \(1 of 2; Neutron`, `\bc3 .*\b1m$`, `: lrp-9$`,
		`\b3m .*: 3 .*, 0 .*: absent$`, `: c4$`, `^$`,
	}
	lines := strings.Split(document.Agent(s), "\n")
	require.Len(t, lines, len(facts))
	for i, fact := range facts {
		assert.Regexp(t, fact, lines[i])
	}
	assert.Regexp(t, `^.*\n.*\n.*\b0 .*\b0 .*\b0s.*\n$`, document.Agent(report.Status{}))
}

func TestShortened_counts_rest(t *testing.T) {
	t.Parallel()
	orphan := func(name string) finding.Document { return finding.Document{Subject: name} }
	whole := func() report.Status {
		return report.Status{Acting: "u/0", Gateways: report.GatewayStatus{
			Planned: 3, Advice: []report.Advice{{Gateway: "a"}, {Gateway: "b"}, {Gateway: "c"}}, Left: []string{"d", "e", "f"},
			Orphans: []finding.Document{orphan("g"), orphan("h"), orphan("i")},
			Last:    &report.Outcome{Reasons: []string{"j", "k", "l"}},
		}}
	}
	s := whole()
	assert.Equal(t, s, s.Shortened(3))
	assert.Equal(t, report.Status{}, report.Status{}.Shortened(0))
	assert.Equal(t, report.Status{Acting: "u/0", Gateways: report.GatewayStatus{
		Planned: 3, Advice: []report.Advice{{Gateway: "a"}}, Left: []string{"d", "… and 2 more"},
		Orphans: []finding.Document{orphan("g"), {Message: "… and 2 more"}},
		Last:    &report.Outcome{Reasons: []string{"j", "… and 2 more"}},
	}}, s.Shortened(1))
	assert.Equal(t, whole(), s, "s is unchanged")
}

func TestAsk_uses_socket_of_file(t *testing.T) {
	t.Parallel()
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != report.Path {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_, _ = w.Write([]byte(`{"unit":"u/0","acts":true}`))
	}))
	defer api.Close()
	dir := t.TempDir()
	file, socket := filepath.Join(dir, "agent.json"), filepath.Join(dir, "agent.sock")
	_, err := report.Ask(t.Context(), file)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, os.WriteFile(file, config.Config{Listen: api.Listener.Addr().String()}.Render(), 0o600))
	_, err = report.Ask(t.Context(), file)
	require.ErrorContains(t, err, file, "what answers at the address may be any user's program")

	require.NoError(t, os.WriteFile(file, config.Config{Listen: api.Listener.Addr().String(), Socket: socket}.Render(),
		0o600))
	_, err = report.Ask(t.Context(), file)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "journalctl -u ovn-central-agent")

	moment := time.AfterFunc(200*time.Millisecond, func() {
		l, err := new(net.ListenConfig).Listen(t.Context(), "unix", socket)
		if assert.NoError(t, err) {
			_ = http.Serve(l, api.Config.Handler) //nolint:gosec // of this test
		}
	})
	defer moment.Stop()
	s, err := report.Ask(t.Context(), file)
	require.NoError(t, err, "a restarting agent is absent for a moment")
	assert.True(t, s.Acts)
}

// An ovn-controller lags for a moment whenever nb_cfg is raised.
func TestFindings_outage_lasts(t *testing.T) {
	t.Parallel()
	g := report.GatewayStatus{
		Outage:        &schedule.Outage{Code: finding.NoChassisResponds, Gateways: 24, Chassis: 4},
		OutageSeconds: 59,
	}
	assert.Empty(t, g.Findings())
	g.OutageSeconds = 60
	found := g.Findings()
	require.Len(t, found, 1)
	assert.Equal(t, finding.NoChassisResponds, found[0].Code)
	assert.Equal(t, finding.Warning, found[0].Severity, "the unit works")
	assert.Equal(t, 4, found[0].Args.Total)
	word, line := present.Workload(juju.Version{Major: 3}, found)
	assert.Equal(t, juju.Active, word)
	assert.Contains(t, line, found[0].Line(), "the status names it")
	assert.Empty(t, report.GatewayStatus{OutageSeconds: 60}.Findings())
}

func TestClockAhead(t *testing.T) {
	t.Parallel()
	second := time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC)
	at := func(ms int) time.Time { return second.Add(time.Duration(ms) * time.Millisecond) }
	for title, c := range map[string]struct {
		asked, answered int // milliseconds after the named second
		ahead           time.Duration
	}{
		"in the second that was named":      {100, 200, 0},
		"asked just before it":              {-300, 10, 0},
		"answered just after it":            {900, 1500, 0},
		"a slow answer tells nothing":       {-5000, 5000, 0},
		"ahead":                             {-45100, -45000, 45 * time.Second},
		"behind":                            {61000, 61100, -time.Minute},
		"the whole second is in its favour": {1400, 1500, -400 * time.Millisecond},
	} {
		assert.Equal(t, c.ahead, report.ClockAhead(second, at(c.asked), at(c.answered)), title)
	}
}

func TestWrongClocks_beyond_slack(t *testing.T) {
	t.Parallel()
	s := report.Status{Peers: []report.PeerStatus{
		{Unit: "ovn-central/1", ClockAheadSeconds: 30},
		{Unit: "ovn-central/2", ClockAheadSeconds: 31},
		{Unit: "ovn-central/3", ClockAheadSeconds: -7200},
		{Address: "10.0.0.9:16402"},
	}}
	wrong := s.WrongClocks()
	assert.Equal(t, []report.WrongClock{{"ovn-central/2", 31 * time.Second}, {"ovn-central/3", -2 * time.Hour}}, wrong)
	for _, c := range wrong {
		assert.Contains(t, document.Agent(s), c.String()+"\n")
	}
}
