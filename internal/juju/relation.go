package juju

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// RelationIDs returns the IDs (`ovsdb-peer:0`) of an endpoint's relations, in Juju's order. It returns none for the
// peer relation in the hook `stop` if the unit's agent has restarted since the unit joined it.
func (t *Tools) RelationIDs(ctx context.Context, endpoint string) ([]string, error) {
	var ids []string
	err := t.queryOnce(ctx, &ids, "relation-ids", endpoint)
	return ids, cannot(err, "list relations of %s", endpoint)
}

// RelationUnits returns the other units in a relation. Juju 4 keeps removed units in it; [Tools.GoalState] has only
// those that exist. If the relation is unknown, the error is [ErrNotFound].
func (t *Tools) RelationUnits(ctx context.Context, relationID string) ([]string, error) {
	var units []string
	err := t.queryOnce(ctx, &units, "relation-list", "-r", relationID)
	return units, cannot(err, "list units in %s", relationID)
}

// RelationGet returns everything that a unit, this one or another, has published in a relation: strings exactly as
// they were set. Data of units that have left stays readable while the relation exists. It replaces a value above 1
// MiB by "(N bytes, too long)", and omits data after the first 8 MiB. If the unit or relation is unknown or can't be
// read, the error is [ErrNotFound].
func (t *Tools) RelationGet(ctx context.Context, relationID, unit string) (map[string]string, error) {
	return t.relationData(ctx, unit, relationID, "-r", relationID, "-", unit)
}

// RelationGetApp returns what the leader of app, this application or the related one, has published for the whole
// application. Errors are those of [Tools.RelationGet].
func (t *Tools) RelationGetApp(ctx context.Context, relationID, app string) (map[string]string, error) {
	return t.relationData(ctx, "application "+app, relationID, "-r", relationID, "--app", "-", app)
}

func (t *Tools) relationData(ctx context.Context, owner, relationID string, args ...string) (map[string]string, error) {
	data, err := t.data(ctx, "relation-get", args...)
	return data, cannot(err, "read relation data of %s in %s", owner, relationID)
}

// RelationSet publishes values of this unit in a relation. Other keys keep their values, and an empty value removes its
// key. Without values it does nothing. The other units see the values after the hook succeeds, this unit at once. If
// the relation is unknown, the error is [ErrNotFound].
//
// The values go through stdin, so their size is not limited as that of an argument, and no list of processes shows
// them.
func (t *Tools) RelationSet(ctx context.Context, relationID string, values map[string]string) error {
	return t.setRelationData(ctx, "this unit's", relationID, values, "-r", relationID, "--file", "-")
}

// RelationSetApp does [Tools.RelationSet] for the application as a whole. Only the leader may call it; to other units
// Juju answers "cannot write relation settings".
func (t *Tools) RelationSetApp(ctx context.Context, relationID string, values map[string]string) error {
	return t.setRelationData(ctx, "the application's", relationID, values, "-r", relationID, "--app", "--file", "-")
}

func (t *Tools) setRelationData(ctx context.Context, whose, relationID string, values map[string]string,
	args ...string,
) error {
	if len(values) == 0 {
		return nil
	}
	file := run.Command{Name: "relation-set", Args: args, Stdin: []byte(yamlJSON(values))}
	_, err := t.call(ctx, file)
	return cannot(err, "write %s relation data in %s", whose, relationID)
}

// yamlJSON writes v as text that JSON parsers and YAML parsers, such as that of relation-set --file, understand
// alike. All strings are quoted, so YAML sees no number in 13e4 and no boolean in true. JSON allows characters in
// strings that YAML refuses (U+007F to U+009F, U+FEFF, U+FFFE) or folds to a space (U+0085). So all from U+007F to
// U+FFFF are written as \u and four hex digits.
func yamlJSON[T string | map[string]string](v T) string {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(v) // never fails for these types and this writer
	var b strings.Builder
	for _, r := range strings.TrimSuffix(text.String(), "\n") {
		if r >= 0x7f && r <= 0xffff {
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
