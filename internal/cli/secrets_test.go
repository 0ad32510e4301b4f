package cli_test

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// Secrets of an operator, by their source: an option, Juju's proxies, the machine's own proxy, the relation to the
// provider of certificates.
const (
	optionSecret   = "optionsecret"
	overlaySecret  = "overlay%2Fsecret"
	proxySecret    = "proxy/secret"
	machineSecret  = "machinesecret"
	providerSecret = "cHJvdmlkZXJzZWNyZXQ"
)

func secrets() []string {
	return []string{optionSecret, overlaySecret, "overlay/secret", proxySecret, machineSecret, providerSecret}
}

// hookTools answer with all of these secrets.
var hookTools = map[string]string{
	"config-get": `echo '{"source":"deb https://me:` + optionSecret +
		`@archive.example/ubuntu jammy main|5EDB1B62EC4926EA",` +
		`"ovn-source":"deb https://me:` + overlaySecret +
		`@overlay.example/ubuntu jammy main","ovn-exporter-channel":"stable"}'`,
	"relation-ids":  `case "$*" in *certificates*) echo '["certificates:1"]';; *) echo '[]';; esac`,
	"relation-list": `echo '["vault/0"]'`,
	"relation-get": `echo '{"ca":"x","ovn-central_0.server.cert":"x","ovn-central_0.server.key":` +
		`"-----BEGIN RSA PRIVATE KEY-----\\n` + providerSecret + `\\n-----END RSA PRIVATE KEY-----"}'`,
	"relation-set": keep,
	"dpkg-query":   `echo "not there" >&2; exit 1`,
	"curl":         `printf -- '-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n-----END PGP PUBLIC KEY BLOCK-----\n'`,
	"apt-get":      `:`,
	"dpkg":         `:`,
}

// telltale prints all of its input, and fails.
const telltale = `{ echo "$0 $*"; env; cat; } >&2; exit 1`

// runs matches the program named in a command's literal, or a call of a hook tool.
var runs = regexp.MustCompile(`(?:run\.Command\{\s*Name: |\.(?:tell|data|query|queryOnce)\(ctx, (?:&\w+, )?)"([a-z][a-z-]+)"`)

// programs returns the programs that the product runs by name.
func programs(t *testing.T) []string {
	t.Helper()
	found := map[string]bool{"apt-get": true, "dpkg": true, "add-apt-repository": true} // arguments in the source
	require.NoError(t, filepath.WalkDir("..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, match := range runs.FindAllStringSubmatch(string(text), -1) {
			found[match[1]] = true
		}
		return err
	}))
	return slices.Sorted(maps.Keys(found))
}

// A proxy's password was once in an error, and in the status. Here each program fails in turn, and repeats its
// arguments, its variables and its input.
func TestMain_output_has_no_secret(t *testing.T) {
	env, dir := prepare(t)
	env["JUJU_CHARM_HTTPS_PROXY"] = "http://me:" + proxySecret + "@proxy:3128"
	env["JUJU_CHARM_HTTP_PROXY"] = "http://me:" + proxySecret + "@proxy:3128"
	t.Setenv("https_proxy", "http://me:"+machineSecret+"@proxy:3128")
	script := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\nset -u\nHERE='"+dir+"'\n"+text+"\n"),
			0o755))
	}
	for name, text := range hookTools {
		script(name, text)
	}
	all := programs(t)
	for _, known := range []string{
		"apt-get", "config-get", "curl", "status-set", "relation-get", "ovs-appctl",
		"ovsdb-tool", "snap", "ufw", "systemctl",
	} {
		require.Contains(t, all, known)
	}
	for _, failing := range all {
		t.Run(failing, func(t *testing.T) {
			path := filepath.Join(dir, failing)
			before, err := os.ReadFile(path)
			require.True(t, err == nil || os.IsNotExist(err))
			script(failing, telltale)
			t.Cleanup(func() {
				require.NoError(t, os.RemoveAll(path))
				if len(before) > 0 {
					require.NoError(t, os.WriteFile(path, before, 0o755))
				}
			})
			output := new(strings.Builder)
			for _, what := range []string{"hooks/config-changed", "actions/cluster-status"} {
				require.NoError(t, os.RemoveAll(filepath.Join(dir, "calls")))
				env["JUJU_DISPATCH_PATH"] = what
				_, stdout, stderr := mainOf(t, env, "/charm/dispatch")
				output.WriteString(called(t, dir) + stdout + stderr)
			}
			// The programs include some that the hook and the action above do not run.
			_, err = run.Exec{}.Run(t.Context(), run.Command{
				Name: failing, Stdin: []byte("deb https://me:" + optionSecret + "@archive.example/ubuntu jammy main"),
				Args: []string{"deb https://me:" + overlaySecret + "@overlay.example/ubuntu jammy main"},
				Env:  []string{"http_proxy=" + env["JUJU_CHARM_HTTP_PROXY"]},
			})
			require.Error(t, err)
			output.WriteString(err.Error())
			require.NotEmpty(t, output.String())
			for _, secret := range secrets() {
				assert.NotContains(t, output.String(), secret)
			}
		})
	}
}
