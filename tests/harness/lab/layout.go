package lab

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/hooktool"
)

// LayOut makes dir the charm's directory, as Juju unpacks it, from a checkout at
// root. An empty binary is built, as it is released.
func LayOut(ctx context.Context, dir, root, binary string) error {
	dispatch := filepath.Join(dir, "dispatch")
	err := linkHooks(filepath.Join(root, "hooks"), filepath.Join(dir, "hooks"))
	for _, name := range []string{"metadata.yaml", "actions.yaml", "config.yaml"} {
		err = errors.Join(err, copyFile(filepath.Join(root, name), filepath.Join(dir, name)))
	}
	if err == nil && binary != "" {
		err = copyFile(binary, dispatch)
	} else if err == nil {
		err = build(ctx, root, "./cmd/ovn-central-operator", dispatch)
	}
	if err != nil {
		return fmt.Errorf("cannot lay out the charm: %w", err)
	}
	return nil
}

// BuildTools builds the program for [Options].Program from a checkout at root, and
// beside it the one that hooks call: labs that have both need not compile it.
func BuildTools(ctx context.Context, root, out string) error {
	err := build(ctx, root, "./tests/harness/lab/cmd/ovn-lab-tools", out)
	if err != nil {
		return fmt.Errorf("cannot build the lab's tools: %w", err)
	}
	return compileClient(ctx, out)
}

//go:embed hooktool/hooktool.c
var clientSource []byte

// compileClient compiles the program that hooks call, beside the one in Go.
func compileClient(ctx context.Context, program string) error {
	compiler := exec.CommandContext(ctx, "cc", "-O2", "-static", "-s", "-o", hooktool.Client(program), "-x", "c", "-")
	compiler.Stdin, compiler.Stderr = bytes.NewReader(clientSource), os.Stderr
	if err := compiler.Run(); err != nil {
		return fmt.Errorf("cannot compile the lab's hook tools: %w", err)
	}
	return nil
}

// linkHooks makes the links that people, and programs that don't know of dispatch, run.
func linkHooks(from, to string) error {
	hooks, err := os.ReadDir(from)
	if err == nil {
		err = errors.Join(os.RemoveAll(to), os.Mkdir(to, 0o755))
	}
	for _, hook := range hooks {
		if err == nil {
			err = os.Symlink(filepath.Join("..", "dispatch"), filepath.Join(to, hook.Name()))
		}
	}
	return err
}

func copyFile(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o755) //nolint:gosec // dispatch is executed
}

func build(ctx context.Context, root, program, out string, flags ...string) error {
	out, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	args := slices.Concat([]string{"build", "-trimpath", "-ldflags=-s -w", "-o", out}, flags, []string{program})
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	return cmd.Run()
}
