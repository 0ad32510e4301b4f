package present_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/present"
)

func TestScreen_repeated_remedies(t *testing.T) {
	t.Parallel()
	count := func(text string, f finding.Finding) int {
		return len(regexp.MustCompile(`(^|[^\w#])`+regexp.QuoteMeta(f.Line())).FindAllString(text, -1))
	}
	for _, f := range each() {
		if len(f.Subject.Databases) == 0 {
			f.Subject.Databases = ovndb.Databases()
		}
		f.Remedies = []finding.Remedy{finding.Do(action("ovn-central/0", "resume"))}
		nb, sb := f, f
		nb.Subject.Databases, sb.Subject.Databases = []ovndb.Database{ovndb.NB}, []ovndb.Database{ovndb.SB}
		all := []finding.Finding{nb, sb, sb}
		_, line := present.Workload(juju3, all)
		texts := map[string]string{
			"details": present.Details(juju3, all), "screen": present.Screen(juju3, "ovn-central/0", nil, all, ""),
			"health": present.Health(all), "status": line,
		}
		if finding.Lookup(f.Code).Quiet {
			delete(texts, "status")
		}
		if f.Severity == finding.Info {
			delete(texts, "screen")
			delete(texts, "health")
		}
		for name, text := range texts {
			assert.Equal(t, 1, count(text, f), "%s: %s", name, text)
			if name != "health" {
				assert.Equal(
					t, 1, strings.Count(text, "juju run ovn-central/0 resume")+strings.Count(text, "; run cluster-status"), "%s: %s",
					name, text,
				)
			}
		}
		assert.Len(t, present.Documents(juju3, all), 1)
	}
}

func TestScreen_fits_terminal(t *testing.T) {
	t.Parallel()
	rows := make([]present.Row, 9)
	found := each()
	for i := range found {
		found[i].Remedies = remedies()[i%8 : i%8+3]
	}
	for units := 0; units < len(rows); units += 4 {
		for n := 0; n < len(found); n += 3 {
			all := found[n:]
			screen := present.Screen(juju3, "ovn-central/0", rows[:units], all, "summary")
			assert.LessOrEqual(t, strings.Count(screen, "\n"), 24)
			if strings.Contains(screen, " more; run: ") {
				assert.True(t, strings.HasSuffix(screen, "juju run ovn-central/0 health detail=true\n"), screen)
			}
		}
	}
}

func TestScreen_no_member_may_fail(t *testing.T) {
	t.Parallel()
	adds := finding.Do(command.Client("add-unit", "ovn-central"))
	for tolerance, add := range []bool{true, false} {
		few := finding.Of(finding.FewMembers, ovndb.NB, finding.Args{Count: 2 * (tolerance + 1), Total: tolerance})
		if add {
			few.Remedies = []finding.Remedy{adds}
		}
		screen := present.Screen(juju3, "ovn-central/0", nil, []finding.Finding{few}, "")
		assert.Equal(t, add, strings.HasSuffix(screen, "juju add-unit ovn-central\n"), screen)
	}
}
