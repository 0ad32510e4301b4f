package docs_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/juju/charm/v12"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/action"
	"github.com/ovn-central/ovn-central-operator/internal/hook"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// 000-7: everything that the documents name exists. `make docs` checks the links between them.
func TestDocuments(t *testing.T) {
	r := readRepository(t)
	require.Contains(t, r.documents, "README.md")
	require.NotEmpty(t, r.targets)
	require.NotEmpty(t, r.tests)
	require.NotEmpty(t, r.rules)
	for _, name := range slices.Sorted(maps.Keys(r.documents)) {
		for what, check := range map[string]func(repository, document) []string{
			"targets of make": unknownTargets, "actions": unknownActions, "tests": unknownTests,
		} {
			assert.Empty(t, check(r, r.documents[name]), "%s of %s", what, name)
		}
	}
}

func TestDocuments_every_relation_key(t *testing.T) {
	d := readRepository(t).documents["docs/reference/relation-data.md"]
	for _, bag := range []map[string]string{
		relation.Identities{}.Databag(), relation.History{}.Databag(), relation.UnitState{}.Databag(), relation.Clusters{}.Settings(),
		relation.CertificateRequest{}.Databag(),
	} {
		require.NotEmpty(t, bag)
		assert.Empty(t, missing(d, slices.Sorted(maps.Keys(bag))))
	}
}

func TestDocuments_every_endpoint(t *testing.T) {
	d := readRepository(t).documents["docs/reference/relation-data.md"]
	file, err := os.Open(filepath.Join(root, "metadata.yaml"))
	require.NoError(t, err)
	defer file.Close()
	meta, err := charm.ReadMeta(file)
	require.NoError(t, err)
	require.NotEmpty(t, meta.CombinedRelations())
	for name, endpoint := range meta.CombinedRelations() {
		role := map[charm.RelationRole]string{charm.RolePeer: "peer", charm.RoleProvider: "provides", charm.RoleRequirer: "requires"}[endpoint.Role]
		assert.Regexp(t, fmt.Sprintf("(?m)^\\| `%s` \\| %s\\b.* \\| `%s` \\|", name, role, endpoint.Interface), d.text)
	}
}

func TestDocuments_have_every_port(t *testing.T) {
	page := readRepository(t).documents["docs/reference/ports.md"]
	for _, db := range ovndb.Databases() {
		for _, port := range ovndb.ClientPorts(db) {
			assert.Empty(t, missing(page, []string{fmt.Sprintf("pssl:%d", port)}))
			assert.Contains(t, page.text, fmt.Sprintf("\n| %d | ", port))
		}
		assert.Contains(t, page.text, fmt.Sprintf("\n| %d | ", ovndb.RaftPort(db)))
	}
}

func TestDocuments_have_every_hook(t *testing.T) {
	assert.Empty(t, missing(readRepository(t).documents["docs/reference/hooks.md"], hook.Names()))
}

func TestDocuments_every_action(t *testing.T) {
	r := readRepository(t)
	reference := r.documents["docs/reference/actions.md"]
	for _, name := range action.Names() {
		assert.Contains(t, reference.anchors(), name)
		assert.Empty(t, missing(reference, slices.Sorted(maps.Keys(r.params[name]))))
	}
}

// Comments say "rule R9", which safety-rules.md explains.
func TestDocuments_explain_every_rule(t *testing.T) {
	r := readRepository(t)
	var explained []string
	for _, m := range heading.FindAllStringSubmatch(r.documents["docs/explanation/safety-rules.md"].text, -1) {
		rule, _, _ := strings.Cut(m[1], ":")
		explained = append(explained, rule)
	}
	for rule := range r.rules {
		assert.Contains(t, explained, rule)
	}
}

// Everything that ARCHITECTURE.md names exists.
func TestDocuments_architecture_names_exist(t *testing.T) {
	r := readRepository(t)
	d := r.documents["ARCHITECTURE.md"]
	for _, text := range d.code() {
		if top, _, found := strings.Cut(text, "/"); found && r.files[top] && !strings.ContainsAny(text, " *") {
			assert.True(t, r.files[text], "%s names %s, which is not there", d.path, text)
		}
	}
	assert.LessOrEqual(t, len(strings.Fields(d.text)), 2000, "words")
}

// A reader has a bound: what a new page says, an old one no longer needs to.
func TestDocuments_have_at_most_45000_words(t *testing.T) {
	documents := readRepository(t).documents
	unproved := documents["docs/explanation/what-is-not-proved.md"]
	require.NotEmpty(t, unproved.text)
	assert.LessOrEqual(t, len(strings.Fields(unproved.text)), 1000, "what a buyer must know")
	words := 0
	for path, d := range documents {
		if strings.HasPrefix(path, "docs/") {
			words += len(strings.Fields(d.text))
		}
	}
	assert.Greater(t, words, 10000, "the documents were read")
	assert.LessOrEqual(t, words, 45000)
}
