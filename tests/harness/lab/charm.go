package lab

import (
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

// readCharm reads a charm as Juju's controller does.
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

// declared is what hook tools need to know of a charm.
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

// peerRelations are the relations that the model has from the start, numbered
// backwards by name: so the one that charms speak on is the first.
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

// copyTree makes the tree from at to.
func copyTree(from, to string) error {
	if inside, err := filepath.Rel(from, to); err == nil && filepath.IsLocal(inside) {
		return fmt.Errorf("cannot copy the charm %s into itself: the lab's directory is in it", from)
	}
	return errors.Join(os.MkdirAll(to, 0o755), linkOrCopy(from+"/.", to))
}

// linkOrCopy makes hard links if that is possible: charms don't change their own files. It runs cp(1), since
// an executable that this process has open for writing can't be run, and a process that is forked meanwhile
// inherits the open file.
func linkOrCopy(from, to string) error {
	if exec.Command("cp", "-dR", "--link", from, to).Run() == nil {
		return nil
	}
	if out, err := exec.Command("cp", "-dR", from, to).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}
