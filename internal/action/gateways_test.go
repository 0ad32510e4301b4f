package action

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/gateway"
)

func TestParametersOfGatewaysAreRead(t *testing.T) {
	r, format, err := params{
		"network": "physnet1, physnet2", "max-moves": json.Number("3"), "seed": json.Number("7"), "wait": json.Number("5"),
		"dry-run": true, "scheduler": "random", "format": "yaml",
	}.gateways()
	require.NoError(t, err)
	assert.Equal(t, []string{"physnet1", "physnet2"}, r.Options.Networks)
	assert.Equal(t, 3, r.Options.MaxMoves)
	assert.Equal(t, gateway.Random, r.Options.Scheduler)
	assert.Equal(t, uint64(7), r.Seed)
	assert.Equal(t, 5*time.Second, r.Wait)
	assert.True(t, r.DryRun)
	assert.False(t, r.Confirmed)
	assert.Equal(t, "yaml", format)

	r, format, err = params{}.gateways()
	require.NoError(t, err)
	assert.Empty(t, r.Options.Networks)
	assert.Equal(t, time.Minute, r.Wait)
	assert.Empty(t, format)
}

// Juju checks most of this, other clients may not.
func TestParametersOfGatewaysThatAreWrongAreNamed(t *testing.T) {
	for want, p := range map[string]params{
		"parameter max-moves is -1: it takes a whole number from 0 to 2147483647": {"max-moves": json.Number("-1")},
		"parameter max-moves is 1.5: it takes a whole number":                     {"max-moves": json.Number("1.5")},
		"parameter wait is 601: it takes a whole number from 0 to 600":            {"wait": json.Number("601")},
		"parameter seed is many: it takes a whole number":                         {"seed": "many"},
		`parameter scheduler is "odd": it takes least-loaded or random`:           {"scheduler": "odd"},
		"parameter dry-run is yes: it takes true or false":                        {"dry-run": "yes"},
		"parameter network is 7: it takes a text":                                 {"network": json.Number("7")},
	} {
		_, _, err := p.gateways()
		require.ErrorContains(t, err, want)
	}
	_, err := shown("xml", gateway.Status{})
	require.ErrorContains(t, err, `parameter format is "xml"`)
}

func TestGatewaysOfDatabasesThatDoNotAnswerAreAFailureOfOneLine(t *testing.T) {
	for _, name := range []string{"gateway-status", "reschedule-gateways", "rebalance-gateways"} {
		a := &agent{}
		require.NoError(t, Run(t.Context(), unit(t, a), name))
		assert.Contains(t, a.failed, "cannot connect to unix:", name)
	}
}
