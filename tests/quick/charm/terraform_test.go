package charm_test

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclparse"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// The schema of juju_application, as far as a machine charm needs it, in the provider's releases 1.0 to 2.2
// (docs-rtd/reference/terraform-provider/resources/application.md of juju/terraform-provider-juju). `terraform validate`
// would ask the provider for it, which Go's module proxy does not have.
var (
	application = schema("model_uuid",
		"name units config constraints endpoint_bindings machines storage_directives trust", "charm", "expose")
	applicationCharm = schema("name", "base channel revision")
	variable         = schema("description type", "default", "validation")
	validation       = schema("condition error_message", "")
	output           = schema("description value", "")
	settings         = schema("required_version", "", "required_providers")
	module           = &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
		{Type: "terraform"},
		{Type: "variable", LabelNames: []string{"name"}},
		{Type: "resource", LabelNames: []string{"type", "name"}},
		{Type: "output", LabelNames: []string{"name"}},
	}}
)

// schema has required and optional attributes, separated by spaces, and blocks without labels.
func schema(required, optional string, blocks ...string) *hcl.BodySchema {
	s := &hcl.BodySchema{}
	for name := range strings.FieldsSeq(required) {
		s.Attributes = append(s.Attributes, hcl.AttributeSchema{Name: name, Required: true})
	}
	for name := range strings.FieldsSeq(optional) {
		s.Attributes = append(s.Attributes, hcl.AttributeSchema{Name: name})
	}
	for _, block := range blocks {
		s.Blocks = append(s.Blocks, hcl.BlockHeaderSchema{Type: block})
	}
	return s
}

// sound fails the test if the module is malformed.
func sound(t *testing.T, diagnostics hcl.Diagnostics) {
	t.Helper()
	require.Empty(t, diagnostics.Errs())
}

func content(t *testing.T, body hcl.Body, schema *hcl.BodySchema) *hcl.BodyContent {
	t.Helper()
	found, diagnostics := body.Content(schema)
	sound(t, diagnostics)
	return found
}

// value returns the value of an expression with these variables.
func value(t *testing.T, expression hcl.Expression, variables cty.Value) cty.Value {
	t.Helper()
	found, diagnostics := expression.Value(&hcl.EvalContext{Variables: map[string]cty.Value{"var": variables}})
	sound(t, diagnostics)
	return found
}

func terraformModule(t *testing.T) map[string]hcl.Blocks {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "deploy", "terraform", "*.tf"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	parser, all := hclparse.NewParser(), []*hcl.File{}
	for _, name := range files {
		file, diagnostics := parser.ParseHCLFile(name)
		sound(t, diagnostics)
		all = append(all, file)
	}
	return content(t, hcl.MergeFiles(all), module).Blocks.ByType()
}

// The module has only arguments that the provider knows, all that it requires, and uses each of its variables.
func TestTerraform_module_is_valid_for_provider(t *testing.T) {
	blocks := terraformModule(t)
	declared := map[string]*hcl.BodyContent{}
	for _, v := range blocks["variable"] {
		require.NotContains(t, declared, v.Labels[0])
		declared[v.Labels[0]] = content(t, v.Body, variable)
	}
	require.Len(t, blocks["resource"], 1)
	resource := blocks["resource"][0]
	assert.Equal(t, "juju_application", resource.Labels[0])
	is := content(t, resource.Body, application)
	require.Len(t, is.Blocks.OfType("charm"), 1)
	charm := content(t, is.Blocks.OfType("charm")[0].Body, applicationCharm)

	given := maps.Clone(is.Attributes)
	for name, attribute := range charm.Attributes {
		given["charm."+name] = attribute
	}
	var used []string
	for name, attribute := range given {
		for _, from := range attribute.Expr.Variables() {
			require.Equal(t, "var", from.RootName(), name)
			used = append(used, from[1].(hcl.TraverseAttr).Name)
		}
	}
	assert.ElementsMatch(t, slices.Collect(maps.Keys(declared)), used)
	for name, v := range declared {
		_, hasDefault := v.Attributes["default"]
		assert.Equal(t, name == "model_uuid" || name == "channel", !hasDefault, "what an operator must say: %s", name)
	}

	providers := content(t, blocks["terraform"][0].Body, settings).Blocks.OfType("required_providers")
	require.Len(t, providers, 1)
	all, diagnostics := providers[0].Body.JustAttributes()
	sound(t, diagnostics)
	juju := value(t, all["juju"].Expr, cty.EmptyObjectVal)
	assert.Equal(t, "juju/juju", juju.GetAttr("source").AsString())
	assert.Equal(t, ">= 1.0, < 3.0", juju.GetAttr("version").AsString(), "releases whose schema is the one above")
}

// Its outputs are the charm's endpoints, its default base is one of the charm's, and an
// even number of units is refused.
func TestTerraform_module_names_endpoints_of_charm(t *testing.T) {
	blocks := terraformModule(t)
	meta := readCharm(t).Meta()
	for _, o := range blocks["output"] {
		var want []string
		switch o.Labels[0] {
		case "requires":
			want = slices.Collect(maps.Keys(meta.Requires))
		case "provides":
			want = slices.Collect(maps.Keys(meta.Provides))
		default:
			assert.Equal(t, "app_name", o.Labels[0])
			continue
		}
		var named []string
		for _, endpoint := range value(t, content(t, o.Body, output).Attributes["value"].Expr, cty.EmptyObjectVal).AsValueMap() {
			named = append(named, endpoint.AsString())
		}
		assert.ElementsMatch(t, want, named, o.Labels[0])
	}
	var bases []string
	for _, base := range readCharm(t).Manifest().Bases {
		bases = append(bases, base.Name+"@"+base.Channel.Track)
	}
	defaults := map[string]cty.Value{}
	for _, v := range blocks["variable"] {
		is := content(t, v.Body, variable)
		if found, ok := is.Attributes["default"]; ok {
			defaults[v.Labels[0]] = value(t, found.Expr, cty.EmptyObjectVal)
		}
		if v.Labels[0] == "base" {
			for _, base := range bases {
				assert.Contains(t, value(t, is.Attributes["description"].Expr, cty.EmptyObjectVal).AsString(), base)
			}
		}
		if v.Labels[0] != "units" {
			continue
		}
		condition := content(t, is.Blocks.OfType("validation")[0].Body, validation).Attributes["condition"].Expr
		for units, allowed := range map[int64]bool{1: true, 2: false, 3: true, 4: false, 5: true} {
			judged := value(t, condition, cty.ObjectVal(map[string]cty.Value{"units": cty.NumberIntVal(units)}))
			assert.Equal(t, allowed, judged.True(), units)
		}
	}
	assert.Equal(t, meta.Name, defaults["charm"].AsString())
	assert.True(t, defaults["units"].RawEquals(cty.NumberIntVal(3)))
	_, err := convert.Convert(defaults["config"], cty.Map(cty.String))
	require.NoError(t, err)
	assert.Contains(t, bases, defaults["base"].AsString())
}
