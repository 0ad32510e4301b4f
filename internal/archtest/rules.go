package archtest

// module is the import path of the product.
const module = "github.com/ovn-central/ovn-central-operator"

// Layers are the packages of internal/, from the highest layer to the lowest. A package may import only packages of
// lower layers. cmd/ is above all of them.
var Layers = [][]string{
	{"cli"},
	{"hook", "action", "agent"},
	{"document"},
	{"reconcile", "node"},
	{"operate"},
	{"agentservice", "backuptimer", "monitoring", "publish"},
	{"steps"},
	{"certificates", "firewall", "jujuleader", "packages", "restarts", "restore"},
	{
		"membership", "gateway", "backup", "startguard", "monitoring/content", "monitoring/exporter", "monitoring/nagios",
	},
	{"facts", "status"},
	{"observe", "present"},
	{"apt", "ovsctl", "ufw", "ovsdb", "juju", "tls", "render", "agent/report"},
	{"raftfile", "machine", "systemd", "unitstate"},
	{"run", "atomicfile", "version", "poll", "ctxio", "agent/config"},
}

// Pure are the packages that decide and never act. Every layer may import them, and they import each other.
// .golangci.yml has what else they may import.
var Pure = []string{
	"ovndb", "raft", "lease", "plan", "recovery", "relation", "gateway/schedule", "gateway/journal",
	"gateway/drift", "gateway/cordon", "gateway/picture", "mincost", "answer", "node/maintenance", "unitname", "foreign",
	"shell", "command", "finding",
}

// linked are the modules that are linked into the program, sorted, without those that only tests and tools need.
// (libovsdb's client itself links testify, and testify links YAML.)
var linked = []string{
	"github.com/beorn7/perks", "github.com/cenkalti/backoff/v4", "github.com/cenkalti/rpc2",
	"github.com/cespare/xxhash/v2", "github.com/coreos/go-systemd/v22", "github.com/go-logr/logr",
	"github.com/go-logr/stdr",
	"github.com/google/uuid", "github.com/munnerz/goautoneg", module, "github.com/ovn-org/libovsdb",
	"github.com/prometheus/client_golang", "github.com/prometheus/client_model", "github.com/prometheus/common",
	"github.com/prometheus/procfs", "github.com/spf13/cobra", "github.com/spf13/pflag", "github.com/stretchr/testify",
	"go.yaml.in/yaml/v3", "golang.org/x/sys", "google.golang.org/protobuf",
}

// narrow are packages that may import only these packages of internal/, and the pure ones: a package that reports a
// unit's state must not be able to query or act.
var narrow = map[string][]string{
	"status":  {"observe", "present", "juju"},
	"observe": {"ovsctl", "raftfile", "machine", "systemd", "ovsdb", "juju", "atomicfile", "poll", "version"},
}
