package reconcile

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNewClustersTakeTheSpaceOfAllOfThemAndOfOneCopyMore(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	for name, tt := range map[string]struct {
		free  int64
		sizes []int64
		want  string
	}{
		"next to nothing":                      {16 * mib, []int64{0}, ""},
		"not even what is to be left":          {15 * mib, []int64{0}, "the disk of /db has 15 MiB free, and it takes 16; make space"},
		"one":                                  {176 * mib, []int64{80 * mib}, ""},
		"one, too large":                       {175 * mib, []int64{80 * mib}, "the disk of /db has 175 MiB free, and it takes 176; make space"},
		"each would do, both don't":            {176 * mib, []int64{80 * mib, 40 * mib}, "the disk of /db has 176 MiB free, and it takes 216; make space"},
		"both, with a copy of the larger once": {216 * mib, []int64{40 * mib, 80 * mib}, ""},
	} {
		err := checkSpace("/db", tt.free, tt.sizes...)
		if tt.want == "" {
			require.NoError(t, err, name)
		} else {
			assert.EqualError(t, err, tt.want, name)
		}
	}
}
