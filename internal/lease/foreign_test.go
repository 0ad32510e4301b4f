package lease_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/foreign"
	"github.com/ovn-central/ovn-central-operator/internal/lease"
)

// Any client of the database may write the record (R18).
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"", "{}", "garbage\x1b[2J", strings.Repeat("x", 110_000), `{"holder":"\u001b[2Jghost/9\n","term":18446744073709551615,"ttl":-1,"instance":"a\r","address":"b\u0000"}`,
		`{"holder":"` + strings.Repeat("h", 110_000) + `","pending":["\u001b"],"noted":[{"id":"a\n","kind":"b\n","by":"c\n","from":"d\n"}]}`, `{"term":1e30}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := lease.Parse(text)
		if err != nil {
			assert.LessOrEqual(t, len(err.Error()), 4*foreign.MaxName, "quoted")
			return
		}
		r.Pad = ""
		again, _ := lease.Parse(text)
		again.Pad = ""
		foreign.Texts(&again)
		assert.Equal(t, again, r)
		assert.True(t, foreign.IsName(r.Holder))
	})
}
