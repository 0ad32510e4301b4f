package foreign_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/foreign"
)

// attacks are texts that could make a terminal, a table or an answer show something else.
var attacks = []string{
	"", "compute-1.maas", "größer", "\x1b[2J\x1b[1;31mPWNED\r\nfake-node  fake  up  in use", "a\nnext: rm -rf /", "a\tb",
	"a\x00b", "\xff\xfe", "a\u202eb", "a\u200bb", "a\u00a0b", "a\u2028b", "\ufeffa", "a\u034fb", "\u009b31m", "--yes",
	strings.Repeat("h", 110_000), strings.Repeat("ü", 200), strings.Repeat("\xf0\x9f\x94\xa5", 64),
	strings.Repeat("\x1b", 300),
}

func TestName_unprintable_is_question_mark(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"compute-1.maas": "compute-1.maas", "größer, 東京 ✓": "größer, 東京 ✓", "": "",
		"\x1b[2J\x1b[1;31mPWNED\r\nfake": "?[2J?[1;31mPWNED??fake", "a\tb\x00c\x7f": "a?b?c?",
		"a\xffb\xc3": "a?b?", "\u202eevil\u202c": "?evil?", "a\u200bb\u2060\ufeff": "a?b??", "a\u034fb": "a?b",
		"a\u00a0b\u2028\u2029": "a?b??", "\u009b31m": "?31m",
	} {
		assert.Equal(t, want, foreign.Name(text), "%q", text)
		assert.Equal(t, want, foreign.Reason(text), "%q", text)
		assert.Equal(t, want == text, foreign.IsName(text), "%q", text)
	}
}

func TestName_cut_between_characters(t *testing.T) {
	t.Parallel()
	exact := strings.Repeat("a", foreign.MaxName)
	assert.Equal(t, exact, foreign.Name(exact))
	assert.Equal(t, exact[:foreign.MaxName-3]+"…", foreign.Name(exact+"a"))
	assert.Equal(t, exact+"a", foreign.Reason(exact+"a"))
	assert.Equal(t, strings.Repeat("ü", 126)+"…", foreign.Name(strings.Repeat("ü", 128)))
	assert.Len(t, foreign.Reason(strings.Repeat("a", 110_000)), foreign.MaxReason)
}

func TestTexts_cleans_every_text(t *testing.T) {
	t.Parallel()
	type inner struct{ Text string }
	answer := struct {
		Text  string
		One   inner
		Some  []inner
		Names []string
		Last  *inner
		None  *inner
		Map   map[string]inner
		N     int
	}{"a\x1b", inner{"b\n"}, []inner{{"c\r"}}, []string{"d\x00"}, &inner{"e\t"}, nil, map[string]inner{"k": {"f\x7f"}}, 3}
	foreign.Texts(&answer)
	assert.Equal(t, []string{"a?", "b?", "c?", "d?", "e?", "f?"}, []string{
		answer.Text, answer.One.Text, answer.Some[0].Text, answer.Names[0], answer.Last.Text, answer.Map["k"].Text,
	})
}

func FuzzName(f *testing.F) {
	for _, text := range attacks {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		limits := map[int]func(string) string{foreign.MaxName: foreign.Name, foreign.MaxReason: foreign.Reason}
		for most, of := range limits {
			shown := of(text)
			assert.LessOrEqual(t, len(shown), most)
			assert.True(t, utf8.ValidString(shown))
			assert.Equal(t, -1, strings.IndexFunc(shown, func(r rune) bool { return !unicode.IsPrint(r) }), "%q", shown)
			assert.Equal(t, shown, of(shown), "a clean text is not changed")
			assert.Equal(t, text == "", shown == "", "nothing is emptied")
		}
	})
}
