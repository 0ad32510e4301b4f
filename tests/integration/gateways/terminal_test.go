package gateways

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/cli"
)

// installed runs the program of the package.
func (c *cloud) installed(args ...string) (code int, stdout, stderr string) {
	c.t.Helper()
	var out, errs bytes.Buffer
	getenv := func(key string) string {
		switch key {
		case "OVN_NB_DB":
			return c.northbound()
		case "OVN_SB_DB":
			return c.endpoint("sb")
		}
		return os.Getenv(key)
	}
	code = cli.Main(c.t.Context(), append([]string{"ovn-gateways"}, args...), getenv, &out, &errs)
	return code, out.String(), errs.String()
}

func TestCommand_of_package(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2")
	code, stdout, stderr := c.installed("status", "--exit-code")
	assert.Equal(t, 0, code, stdout+stderr)
	c.addGateways(2, "c1", "c2")
	c.operated("rebalance", "--yes", "--wait", "0")

	t.Run("nodes", func(t *testing.T) {
		code, stdout, stderr := c.installed("nodes", "drain", "c1")
		assert.Equal(t, 1, code, stdout)
		assert.Regexp(t, `next: ovn-gateways nodes drain c1 --yes\n`, stderr)
		code, stdout, _ = c.installed("nodes", "list")
		assert.Equal(t, 0, code)
		assert.Contains(t, stdout, "c2.example")
	})
	t.Run("exit code", func(t *testing.T) {
		code, stdout, stderr := c.installed("status", "--exit-code")
		assert.Contains(t, stdout, "problems", "no ovn-controller hosts a gateway")
		assert.Equal(t, 3, code, stdout+stderr)
		assert.Empty(t, stderr)
		code, _, _ = c.installed("status")
		assert.Equal(t, 0, code)
	})
	t.Run("completion", func(t *testing.T) {
		plan := regexp.MustCompile(`g[0-9a-f]{8}`).FindString(c.operated("history"))
		for line, offered := range map[string]string{
			"nodes drain ": "c1.example", "nodes release ": "c2.example", "status --network ": "physnet1", "status -o ": "json",
			"reschedule --scheduler ": "random", "revisions --base ": "last-site-action", "history ": plan, "rebalance --revert ": plan,
		} {
			_, stdout, _ := c.installed(append([]string{"__complete"}, strings.Split(line, " ")...)...)
			assert.Contains(t, stdout, offered, line)
			assert.True(t, strings.HasSuffix(stdout, ":4\n"), "no files: %s", stdout)
		}
	})
}
