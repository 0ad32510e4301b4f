package run_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/run"
)

func TestRedact(t *testing.T) {
	t.Parallel()
	for text, shown := range map[string]string{
		"nothing to hide":                                                            "nothing to hide",
		"http://proxy:3128 does not answer":                                          "http://proxy:3128 does not answer",
		"http://[::1]:3128/x":                                                        "http://[::1]:3128/x",
		"deb http://me:secret@host/ubuntu jammy main":                                "deb http://…@host/ubuntu jammy main",
		"two: http://a:b@h1 and https://token@h2/":                                   "two: http://…@h1 and https://…@h2/",
		"an @ and a / inside: http://me:p@ss/word@proxy:1":                           "an @ and a / inside: http://…@proxy:1",
		`cut: "deb http://me:secr"; it must be`:                                      `cut: "deb http://…"; it must be`,
		"cut at the end http://me:secr":                                              "cut at the end http://…",
		"-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nrest": "…\nrest",
		"-----BEGIN PRIVATE KEY-----\nMIIE":                                          "…",
		"ssl:10.0.0.1:6641":                                                          "ssl:10.0.0.1:6641",
	} {
		assert.Equal(t, shown, run.Redact(text))
		assert.Equal(t, shown, run.Redact(run.Redact(text)), "twice is once")
	}
}

// A program may repeat its arguments, its variables and its input, and parts of URLs, decoded or not.
func TestError_has_no_secrets(t *testing.T) {
	secrets := []string{"argument-secret", "variable-secret", "input-secret", "inherited-secret", "deco/ded"}
	t.Setenv("https_proxy", "http://me:inherited-secret@proxy:3128")
	c := run.Command{
		Name: "sh", Stdin: []byte("deb http://me:input-secret@host/ jammy main"),
		Env:  []string{"x_proxy=http://me:variable-secret@proxy", "y_proxy=http://me:deco%2Fded@proxy"},
		Args: []string{"-c", "", "sh", "http://me:argument-secret@host"},
	}
	for _, script := range []string{
		"echo \"$@\" >&2; env >&2; cat >&2; exit 3",
		"echo argument-secret variable-secret input-secret inherited-secret deco/ded deco%2Fded >&2; exit 3",
		"echo argument-secret >&2; exec sleep 60",
		"kill -9 $$",
	} {
		c.Args[1] = script
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		_, err := run.Exec{}.Run(ctx, c)
		cancel()
		failed := (*run.Error)(nil)
		if assert.ErrorAs(t, err, &failed) {
			for _, secret := range secrets {
				assert.NotContains(t, err.Error(), secret)
				assert.NotContains(t, failed.Stderr, secret)
				assert.NotContains(t, failed.Command.String(), secret)
			}
		}
	}
	made := &run.Error{Command: c, Err: errors.New("argument-secret of http://me:argument-secret@host")}
	assert.Equal(t, "sh: … of http://…@host", made.Error())
}
