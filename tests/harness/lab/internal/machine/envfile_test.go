package machine

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestEnvironmentFilesAreReadAsSystemdDoes(t *testing.T) {
	tests := map[string]struct {
		text string
		want map[string]string
	}{
		"the package's, all comments":   {"# This is a POSIX shell fragment\n# OVN_CTL_OPTS: Extra options\n# OVN_CTL_OPTS=\n", map[string]string{}},
		"one line":                      {"OVN_CTL_OPTS=--db-nb-addr=1 --x\n", map[string]string{"OVN_CTL_OPTS": "--db-nb-addr=1 --x"}},
		"continued lines":               {"OVN_CTL_OPTS= \\\n    --a=1 \\\n    --b=2\nX=3\n", map[string]string{"OVN_CTL_OPTS": "--a=1     --b=2", "X": "3"}},
		"continued in quotes":           {"OVN_CTL_OPTS=\"\\\n    --a=1 \\\n    --b=2 \"\n", map[string]string{"OVN_CTL_OPTS": "    --a=1     --b=2 "}},
		"no line end":                   {"A=1", map[string]string{"A": "1"}},
		"a comment after a value isn't": {"A=1 # 2\n", map[string]string{"A": "1 # 2"}},
		"a comment that is continued":   {"; a \\\nA=1\nB=2\n", map[string]string{"B": "2"}},
		"no equals sign":                {"nonsense\nA=1\n", map[string]string{"A": "1"}},
		"the last one counts":           {"A=1\nA=2\n", map[string]string{"A": "2"}},
		"empty":                         {"A=\nB=1\n", map[string]string{"A": "", "B": "1"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, parseEnvironment(test.text))
		})
	}
}

func TestCommandsAreSplitAsSystemdDoes(t *testing.T) {
	variables := map[string]string{"OPTS": "--a=1  '--b=2 3'", "X": "x y"}
	tests := map[string]struct {
		command string
		want    []string
	}{
		"a variable is its words":       {"/bin/ctl run $OPTS", []string{"/bin/ctl", "run", "--a=1", "--b=2 3"}},
		"in braces it is one":           {"/bin/ctl ${X} a${X}b", []string{"/bin/ctl", "x y", "ax yb"}},
		"one that isn't set is no word": {"/bin/ctl $NOPE end", []string{"/bin/ctl", "end"}},
		"quotes":                        {`/bin/ctl "a b" 'c'`, []string{"/bin/ctl", "a b", "c"}},
		"failure is fine":               {"-/bin/ctl", []string{"/bin/ctl"}},
		"a dollar":                      {"/bin/ctl $$X", []string{"/bin/ctl", "$X"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, words(test.command, variables))
		})
	}
}
