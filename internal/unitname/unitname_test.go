package unitname_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/unitname"
)

func TestApplication(t *testing.T) {
	assert.Equal(t, "ovn-central", unitname.Application("ovn-central/12"))
	assert.Equal(t, 12, unitname.Number("ovn-central/12"))
	assert.Equal(t, "ovn-central", unitname.Application("ovn-central"))
	assert.Equal(t, 0, unitname.Number("ovn-central"))
}

func TestCompare_by_number(t *testing.T) {
	units := []string{"b/0", "a/10", "a/9", "a/0", "a"}
	slices.SortFunc(units, unitname.Compare)
	assert.Equal(t, []string{"a", "a/0", "a/9", "a/10", "b/0"}, units)
}

func TestIsOf(t *testing.T) {
	assert.True(t, unitname.IsOf("a/0", "a"))
	assert.True(t, unitname.IsOf("a/4294967295", "a"))
	for _, name := range []string{
		"", "a", "a/", "/0", "b/0", "ab/0", "a/b/0", "a/-1", "a/+1", "a/01", "a/1 ", "a/1\n",
		"a/4294967296",
	} {
		assert.False(t, unitname.IsOf(name, "a"), name)
	}
	assert.False(t, unitname.IsOf("/0", ""))
}
