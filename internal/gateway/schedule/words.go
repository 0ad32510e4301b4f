package schedule

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Count is a number of things, in words.
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// counted lists reasons, the most frequent first.
func counted(count map[string]int) string {
	reasons := slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b))
	})
	for i, r := range reasons {
		reasons[i] = fmt.Sprintf("%d × %s", count[r], r)
	}
	return strings.Join(reasons, "; ")
}
