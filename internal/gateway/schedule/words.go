package schedule

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Count returns a number of things, in words.
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// against counts the reasons against chassis. why returns an empty reason for a chassis to leave out.
func against(chassis []Chassis, why func(Chassis) string) string {
	count := map[string]int{}
	for _, c := range chassis {
		if reason := why(c); reason != "" {
			count[reason]++
		}
	}
	if len(count) == 0 {
		return "there are none"
	}
	return counted(count)
}

// subject matches the beginning of a reason about one chassis.
var subject = regexp.MustCompile("^(it is|it has|its|it) ")

func counted(count map[string]int) string {
	reasons := slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b))
	})
	for i, r := range reasons {
		reasons[i] = fmt.Sprintf("%d chassis: %s", count[r], subject.ReplaceAllString(r, ""))
	}
	return strings.Join(reasons, "; ")
}

// CompareNames orders names naturally: lrp-2 comes before lrp-10.
func CompareNames(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		p, q := digits(x), digits(y)
		if p == "" || q == "" {
			if x[0] != y[0] {
				return cmp.Compare(x[0], y[0])
			}
			x, y = x[1:], y[1:]
			continue
		}
		m, n := strings.TrimLeft(p, "0"), strings.TrimLeft(q, "0")
		if order := cmp.Or(cmp.Compare(len(m), len(n)), cmp.Compare(m, n)); order != 0 {
			return order
		}
		x, y = x[len(p):], y[len(q):]
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(a, b))
}

func digits(text string) string {
	return text[:len(text)-len(strings.TrimLeft(text, "0123456789"))]
}
