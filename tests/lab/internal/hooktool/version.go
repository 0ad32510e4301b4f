package hooktool

import (
	"strconv"
	"strings"
)

// version is the Juju that the lab plays, where its answers differ.
type version struct{ major, minor int }

func parseVersion(text string) (v version) {
	major, rest, _ := strings.Cut(text, ".")
	minor, _, _ := strings.Cut(rest, ".")
	v.major, _ = strconv.Atoi(major)
	v.minor, _ = strconv.Atoi(minor)
	return v
}

// since says whether this is that version or a later one.
func (v version) since(major, minor int) bool { //nolint:unparam // 4 will differ, too
	return v.major > major || v.major == major && v.minor >= minor
}
