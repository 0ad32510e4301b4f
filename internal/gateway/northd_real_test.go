//go:build programs

package gateway_test

import (
	"context"
	"errors"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdbtest"
)

// Without ovn-northd, an operation fails once its own wait is over. The status names chassis that lack a row.
func TestService_without_northd(t *testing.T) {
	t.Parallel()
	nb := ovsdbtest.New(t, ovndb.NB, "127.0.0.1").Standalone(t).Start(t)
	sb := ovsdbtest.New(t, ovndb.SB, "127.0.0.1").Standalone(t).Start(t)
	require.NoError(t, exec.CommandContext(t.Context(), "ovn-nbctl", "--db="+nb.Endpoint(), "init").Run())
	require.NoError(t, exec.CommandContext(t.Context(), "ovn-sbctl", "--db="+sb.Endpoint(), "init", "--",
		"create", "Chassis", "name=c1", "other_config:is-interconn=false", "encaps=@e", "--",
		"--id=@e", "create", "Encap", "type=geneve", "ip=10.0.0.1", "--",
		"create", "Chassis_Private", "name=c2").Run())
	s := gateway.Service{
		Dialer: &ovsdb.Dialer{}, NB: []string{nb.Endpoint()}, SB: []string{sb.Endpoint()}, Now: time.Now,
		NorthdTimeout: gateway.DefaultNorthdTimeout,
	}
	defer s.Close()
	status, err := s.Status(t.Context(), schedule.Options{})
	require.NoError(t, err)
	assert.Equal(t, []string{
		"warning CHASSIS_INCOMPLETE c1 Value=Chassis_Private",
		"warning CHASSIS_INCOMPLETE c2 Value=Chassis",
	}, findingtest.All(status.Findings))
	begun := time.Now()
	_, err = s.Reschedule(t.Context(), gateway.Request{Wait: 500 * time.Millisecond})
	require.ErrorIs(t, err, gateway.ErrBehind)
	assert.Less(t, time.Since(begun), gateway.DefaultNorthdTimeout/2)
}

// An interrupted operation blames neither the ovn-controllers, which had no time to respond, nor ovn-northd.
func TestService_interrupted(t *testing.T) {
	t.Parallel()
	nb := ovsdbtest.New(t, ovndb.NB, "127.0.0.1").Standalone(t).Start(t)
	sb := ovsdbtest.New(t, ovndb.SB, "127.0.0.1").Standalone(t).Start(t)
	require.NoError(t, exec.CommandContext(t.Context(), "ovn-nbctl", "--db="+nb.Endpoint(), "init").Run())
	require.NoError(t, exec.CommandContext(t.Context(), "ovn-sbctl", "--db="+sb.Endpoint(), "init", "--",
		"set", "SB_Global", ".", "nb_cfg=1", "--", "--id=@e", "create", "Encap", "type=geneve", "ip=10.0.0.1", "--",
		"--id=@c", "create", "Chassis", "name=c1", "encaps=@e", "other_config:ovn-cms-options=enable-chassis-as-gw",
		"--", "create", "Chassis_Private", "name=c1", "chassis=@c").Run())
	for name, wait := range map[string]time.Duration{
		"while ovn-controllers may respond": 0,
		"while ovn-northd may follow":       time.Minute,
	} {
		s := gateway.Service{
			Dialer: &ovsdb.Dialer{}, NB: []string{nb.Endpoint()}, SB: []string{sb.Endpoint()}, Now: time.Now,
			NorthdTimeout: gateway.DefaultNorthdTimeout,
		}
		ctx, interrupt := context.WithCancelCause(t.Context())
		stopped := errors.New("stopped")
		time.AfterFunc(time.Second, func() { interrupt(stopped) })
		_, err := s.Reschedule(ctx, gateway.Request{Wait: wait})
		s.Close()
		require.ErrorContains(t, err, stopped.Error(), name)
		assert.NotContains(t, err.Error(), finding.Reason{Code: finding.InTime, Value: stopped.Error()}.String(), name)
	}
}

// A mistyped plan is no failure of the databases.
func TestHistory_unknown_plan(t *testing.T) {
	t.Parallel()
	nb := ovsdbtest.New(t, ovndb.NB, "127.0.0.1").Standalone(t).Start(t)
	sb := ovsdbtest.New(t, ovndb.SB, "127.0.0.1").Standalone(t).Start(t)
	require.NoError(t, exec.CommandContext(t.Context(), "ovn-nbctl", "--db="+nb.Endpoint(), "init").Run())
	s := gateway.Service{Dialer: &ovsdb.Dialer{}, NB: []string{nb.Endpoint()}, SB: []string{sb.Endpoint()}, Now: time.Now}
	defer s.Close()
	var refused *answer.RefusedError
	_, err := s.History(t.Context(), "nope")
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, answer.NotFound, refused.Status.Reason)
}
