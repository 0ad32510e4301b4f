package schedule

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
)

// Count returns a number of things, in words.
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// against counts the reasons against chassis. why returns no reason for a chassis to leave out.
func against(chassis []Chassis, why func(Chassis) finding.Reason) (all []finding.Reason) {
	for _, c := range chassis {
		reason := why(c)
		if reason.IsZero() {
			continue
		}
		at := slices.IndexFunc(all, func(r finding.Reason) bool { return same(r.Because[0], reason) })
		if at < 0 {
			at = len(all)
			all = append(all, finding.Reason{Code: finding.ChassisCount, Because: []finding.Reason{reason}})
		}
		all[at].Count++
	}
	if len(all) == 0 {
		return finding.Because(finding.NoChassisLeft)
	}
	slices.SortFunc(all, func(a, b finding.Reason) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Because[0].String(), b.Because[0].String()))
	})
	return all
}

// same reports whether two reasons against a chassis are the same. They have no other values.
func same(a, b finding.Reason) bool {
	return a.Code == b.Code && a.Name == b.Name && a.Value == b.Value
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
