package unitname_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/unitname"
)

func TestNamesAreCutAtTheSlash(t *testing.T) {
	assert.Equal(t, "ovn-central", unitname.Application("ovn-central/12"))
	assert.Equal(t, 12, unitname.Number("ovn-central/12"))
	assert.Equal(t, "ovn-central", unitname.Application("ovn-central"))
	assert.Equal(t, 0, unitname.Number("ovn-central"))
}

func TestUnitsAreOrderedByNumberAndNotByDigits(t *testing.T) {
	units := []string{"b/0", "a/10", "a/9", "a/0", "a"}
	slices.SortFunc(units, unitname.Compare)
	assert.Equal(t, []string{"a", "a/0", "a/9", "a/10", "b/0"}, units)
}
