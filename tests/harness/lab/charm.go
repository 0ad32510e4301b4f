package lab

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/juju/charm/v12"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/hooktool"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/model"
)

func readCharm(dir string) (*charm.CharmDir, error) {
	info, err := os.Stat(filepath.Join(dir, "dispatch"))
	switch {
	case dir == "":
		return nil, errors.New("cannot read the charm: no directory is given")
	case err != nil:
		return nil, fmt.Errorf("cannot read the charm: %w", err)
	case info.Mode()&0o111 == 0:
		return nil, fmt.Errorf("cannot read the charm: %s/dispatch isn't executable", dir)
	}
	ch, err := charm.ReadCharmDir(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot read the charm in %s: %w", dir, err)
	}
	return ch, nil
}

// declared returns the part of a charm that hook tools need.
func declared(ch *charm.CharmDir) hooktool.Charm {
	meta := ch.Meta()
	var bindings []string
	for _, relations := range []map[string]charm.Relation{meta.Peers, meta.Provides, meta.Requires} {
		bindings = append(bindings, slices.Collect(maps.Keys(relations))...)
	}
	bindings = append(bindings, slices.Collect(maps.Keys(meta.ExtraBindings))...)
	return hooktool.Charm{
		Bindings: bindings, Requires: slices.Sorted(maps.Keys(meta.Requires)), Options: ch.Config().DefaultSettings(),
	}
}

// peerRelations returns the initial relations, numbered backwards by name, so that the charm's own is the first.
func peerRelations(ch *charm.CharmDir) []*model.Relation {
	var relations []*model.Relation
	names := slices.Sorted(maps.Keys(ch.Meta().Peers))
	slices.Reverse(names)
	for i, name := range names {
		relations = append(relations, &model.Relation{
			ID: i + 1, Name: name, App: model.Bag{Settings: map[string]string{}}, Units: map[string]*model.Bag{},
		})
	}
	return relations
}

func copyTree(from, to string) error {
	if inside, err := filepath.Rel(from, to); err == nil && filepath.IsLocal(inside) {
		return fmt.Errorf("cannot copy the charm %s into itself: the lab's directory is in it", from)
	}
	return errors.Join(os.MkdirAll(to, 0o755), linkOrCopy(from+"/.", to))
}

// linkOrCopy makes hard links if possible: charms don't change their own files. Otherwise it runs cp(1), since an
// executable can't be run while this process, or one forked meanwhile, has it open for writing.
func linkOrCopy(from, to string) error {
	if exec.Command("cp", "-dR", "--link", from, to).Run() == nil {
		return nil
	}
	if out, err := exec.Command("cp", "-dR", from, to).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// LayOut unpacks the charm into dir as Juju does, from a checkout at root. If binary is empty, it builds the binary.
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

// BuildTools builds [Options].Program from a checkout at root, and beside it the program that hooks call.
func BuildTools(ctx context.Context, root, out string) error {
	err := build(ctx, root, "./tests/harness/lab/cmd/ovn-lab-tools", out)
	if err != nil {
		return fmt.Errorf("cannot build the lab's tools: %w", err)
	}
	return compileClient(ctx, out)
}

//go:embed hooktool/hooktool.c
var clientSource []byte

func compileClient(ctx context.Context, program string) error {
	compiler := exec.CommandContext(ctx, "cc", "-O2", "-static", "-s", "-o", hooktool.Client(program), "-x", "c", "-")
	compiler.Stdin, compiler.Stderr = bytes.NewReader(clientSource), os.Stderr
	if err := compiler.Run(); err != nil {
		return fmt.Errorf("cannot compile the lab's hook tools: %w", err)
	}
	return nil
}

// linkHooks makes the links for callers that don't know dispatch.
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
