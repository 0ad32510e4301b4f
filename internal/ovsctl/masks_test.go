package ovsctl_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/run"
	"github.com/ovn-central/ovn-central-operator/internal/systemd"
)

// masks plays systemctl for services with this UnitFileState.
type masks struct {
	how   string
	calls []string
}

// Run implements run.Runner.
func (m *masks) Run(_ context.Context, c run.Command) ([]byte, error) {
	if c.Args[0] != "show" {
		m.calls = append(m.calls, c.String())
		return nil, nil
	}
	load, _, _ := strings.Cut(strings.Replace(m.how, "enabled", "loaded", 1), "-")
	var all []string
	for _, service := range ovndb.AllServices() {
		all = append(all, fmt.Sprintf("Id=%s.service\nLoadState=%s\nActiveState=active\nUnitFileState=%s\nMainPID=1\n",
			service, load, m.how))
	}
	return []byte(strings.Join(all, "\n")), nil
}

// An upgrade that was killed leaves its masks until the next boot; an operator's stay.
func TestHandOver_runtime_mask_is_removed(t *testing.T) {
	t.Parallel()
	killed, wanted := &masks{how: "masked-runtime"}, &masks{how: "masked"}
	reached := errors.New("the server may be ended")
	begin := func() (time.Time, error) { return time.Time{}, reached }
	err := ovsctl.Control{}.HandOver(t.Context(), systemd.Services{Runner: killed}, ovndb.NB, begin)
	require.ErrorIs(t, err, reached)
	assert.Equal(t, []string{"systemctl unmask --runtime ovn-ovsdb-server-nb"}, killed.calls)
	err = ovsctl.Control{}.HandOver(t.Context(), systemd.Services{Runner: wanted}, ovndb.NB, begin)
	require.ErrorIs(t, err, systemd.ErrNotStartable)
	assert.Empty(t, wanted.calls)
}
