package operate

import (
	"cmp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

func TestRestartTargets(t *testing.T) {
	t.Parallel()
	const northd, nb, sb = ovndb.Northd, ovndb.NorthboundServer, ovndb.SouthboundServer
	held := map[ovndb.Service]string{nb: "options changed"}
	for name, tt := range map[string]struct {
		paused  bool
		pending map[ovndb.Service]string
		names   []string
		want    []ovndb.Service
		err     finding.Code
		unknown error
	}{
		"held back":                     {pending: held, want: []ovndb.Service{nb}},
		"nothing is held back":          {},
		"one by name":                   {pending: held, names: []string{"ovn-northd"}, want: []ovndb.Service{northd}},
		"all by name":                   {names: []string{"ovn-central"}, want: []ovndb.Service{northd, nb, sb}},
		"no such one":                   {names: []string{"ovn-controller"}, unknown: errNoService},
		"of a paused unit, by name":     {paused: true, names: []string{"ovn-northd"}, err: finding.Paused},
		"of a paused unit, held back":   {paused: true, pending: held, err: finding.Paused},
		"of a paused unit, none is due": {paused: true},
	} {
		wanted, err := Asked{Paused: tt.paused}.restartTargets("ovn-central/0", tt.pending, tt.names)
		require.ErrorIs(t, err, cmp.Or(tt.unknown, err), name)
		assert.Equal(t, tt.err != "", finding.Has(finding.Reasons(err), tt.err), name)
		var all []ovndb.Service
		for service, is := range wanted {
			if is {
				all = append(all, service)
			}
		}
		assert.ElementsMatch(t, tt.want, all, name)
	}
}
