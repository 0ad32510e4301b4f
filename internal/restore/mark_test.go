package restore

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/foreign"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
)

// Any client of the database may write the mark (R18).
func FuzzParseMark(f *testing.F) {
	m := newMark("ovn-central/0", recovery.Request{Cluster: "57f8", Backup: "/b", GivenUp: []string{"ovn-central/1"}},
		time.Unix(1795000000, 0))
	for _, text := range []string{
		"", "{}", "null", "garbage", `{"unit":"\u001b[2J\r\nnext: juju remove-unit","backup":"` +
			strings.Repeat("b", 110_000) + `","given-up":["\n"],"cluster":"\u0000"}`,
		`{"unit":"` + m.Unit + `","at":"2026-11-18T18:26:40Z","cluster":"57f8","backup":"/b","given-up":["ovn-central/1"]}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, found := parseMark(map[string]string{markKey: text})
		cleaned := m
		foreign.Texts(&cleaned)
		assert.Equal(t, cleaned, m)
		assert.Equal(t, found, m.Unit != "")
	})
}
