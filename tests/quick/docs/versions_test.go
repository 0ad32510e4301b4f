package docs_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/apt"
)

var codeSpan = regexp.MustCompile("`([^`]+)`")

// codenames are those of Ubuntu's releases, which sources are named after.
var codenames = map[string]string{"22.04": "jammy", "24.04": "noble", "26.04": "resolute"}

// The page's description of `source` matches the charm: each value can be used
// there, comes from the archive that is beside it, and none is missing.
func TestSourcesOfThePageAreThoseThatTheCharmTakes(t *testing.T) {
	page := readRepository(t).documents["docs/reference/supported-versions.md"]
	shown := map[string][]string{}
	for line := range strings.Lines(page.text) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 7 || codenames[strings.TrimSpace(cells[4])] == "" {
			continue
		}
		ubuntu := strings.TrimSpace(cells[4])
		for _, m := range codeSpan.FindAllStringSubmatch(cells[3], -1) {
			source, err := apt.ParseSource(m[1], apt.OS{ID: "ubuntu", VersionID: ubuntu, Codename: codenames[ubuntu]})
			require.NoError(t, err, line)
			own := strings.TrimSpace(cells[5]) == "Ubuntu's own"
			assert.Equal(t, own, source.Line == "", line)
			if !strings.Contains(m[1], ":") && m[1] != "distro" {
				shown[ubuntu] = append(shown[ubuntu], m[1])
			}
		}
	}
	require.Len(t, shown, len(codenames))
	for ubuntu, releases := range shown {
		_, err := apt.ParseSource("ussuri", apt.OS{ID: "ubuntu", VersionID: ubuntu, Codename: codenames[ubuntu]})
		require.Error(t, err)
		_, has, found := strings.Cut(err.Error(), "it has ")
		require.True(t, found, err)
		slices.Sort(releases)
		assert.Equal(t, slices.Sorted(slices.Values(strings.Split(has, ", "))), releases, ubuntu)
	}
}
