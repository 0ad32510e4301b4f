package archtest

// module is the import path of the product.
const module = "github.com/ovn-central/ovn-central-operator"

// maxLines is the limit of a Go file that isn't a test.
const maxLines = 400

// maxFunction is the limit of the lines of a function's body in the product.
const maxFunction = 80

// Layers are the packages of internal/ from the highest to the lowest. A package may import only those of lower layers.
// cmd/ is above them all.
var Layers = [][]string{
	{"cli"},
	{"hook", "action", "agent"},
	{"document"},
	{"reconcile", "node"},
	{"operate"},
	{"steps"},
	{"agentservice", "backuptimer", "certificates", "jujuleader", "monitoring", "publish", "restarts", "restore"},
	{"membership", "gateway", "backup", "startguard"},
	{"status"},
	{"observe", "present"},
	{"apt", "ovsctl", "firewall", "ovsdb", "juju", "relation", "tls", "render", "agent/report"},
	{"raftfile", "machine", "systemd", "unitstate"},
	{"run", "atomicfile", "version", "poll", "ctxio", "agent/config"},
}

// Pure are the packages that decide and never act. Every layer may import them; they import each other and the standard
// library, without what reaches out of the process: time, randomness and I/O come in as values.
var Pure = []string{
	"ovndb", "raft", "lease", "plan", "recovery", "gateway/schedule", "gateway/journal",
	"gateway/drift", "gateway/cordon", "gateway/picture", "mincost", "answer", "node/maintenance", "unitname", "foreign",
	"shell", "command", "finding",
}

// formats are the pure packages with a form of their own, of stored records or of a picture, which may import encoding
// and the packages below it. The others' decisions get their form in higher packages.
var formats = []string{"lease", "plan", "gateway/journal", "gateway/picture", "node/maintenance"}

// printers are the packages that may print with package fmt: documents for people and a picture; the log; files that
// other programs read; ovsdb-server's own text, as it is parsed; and, in relation and tls, the replacement of a secret
// in logs.
var printers = []string{
	"apt", "cli", "action", "document", "present", "gateway/picture", "juju", "ovsctl", "raft", "raftfile", "relation",
	"systemd", "tls",
}

// lined are the pure packages whose texts have several lines: that of ovsdb-server, the input of digests, layouts by
// name, a picture. Other decisions have a reason of one line; longer texts are laid out in document. The same holds for
// package status.
var lined = []string{"raft", "plan", "gateway/journal", "gateway/picture"}

// outside are the parts of the standard library that pure packages may not import. A path includes everything below it.
var outside = []string{
	"os", "net", "syscall", "log", "io/ioutil", "math/rand", "crypto/rand", "plugin", "unsafe", "embed",
}

// clock are the functions of package time that pure packages may not call.
var clock = []string{
	"After", "AfterFunc", "NewTicker", "NewTimer", "Now", "Since", "Sleep", "Tick", "Until",
}

// owners are the packages that may import an external package. A path includes everything below it; the longest one
// that matches an import decides.
var owners = map[string][]string{
	"os/exec":                      {"run"},
	"github.com/ovn-org/libovsdb":  {"ovsdb"},
	"github.com/cenkalti/rpc2":     {"ovsdb"},
	"gopkg.in/yaml.v2":             {},
	"gopkg.in/yaml.v3":             {}, // archived
	"go.yaml.in/yaml":              {"render"},
	"github.com/spf13/cobra":       {"cli"},
	"github.com/juju/charm/v12":    {}, // its root links a database driver: for tests and tools
	"github.com/coreos/go-systemd": {"agent"},
	"github.com/prometheus":        {"agent"},
	module + "/internal/plan": {
		"reconcile", "operate", "steps", "certificates", "publish", "restarts", "restore", "action",
		"membership", "document", "status",
	},
	"text/tabwriter":              {"document", "present"}, // packages that decide or act print no tables
	"net/http":                    {"agent", "agent/report"},
	"testing":                     {},
	"github.com/stretchr/testify": {},
}

// linked are the modules that are linked into the program, sorted, without those that only tests and tools need.
// (libovsdb's client itself links testify, and testify YAML.)
var linked = []string{
	"github.com/beorn7/perks", "github.com/cenkalti/backoff/v4", "github.com/cenkalti/rpc2",
	"github.com/cespare/xxhash/v2", "github.com/coreos/go-systemd/v22", "github.com/go-logr/logr",
	"github.com/go-logr/stdr",
	"github.com/google/uuid", "github.com/munnerz/goautoneg", module, "github.com/ovn-org/libovsdb",
	"github.com/prometheus/client_golang", "github.com/prometheus/client_model", "github.com/prometheus/common",
	"github.com/prometheus/procfs", "github.com/spf13/cobra", "github.com/spf13/pflag", "github.com/stretchr/testify",
	"go.yaml.in/yaml/v3", "golang.org/x/sys", "google.golang.org/protobuf",
}

// narrow are packages that may import only these packages of internal/, and the pure ones: packages that report a
// unit's state must not be able to ask or act.
var narrow = map[string][]string{
	"status":  {"observe", "present", "juju", "relation"},
	"observe": {"ovsctl", "raftfile", "machine", "systemd", "ovsdb", "juju", "relation", "atomicfile", "poll", "version"},
}

// emptyNames do not describe a package's purpose.
var emptyNames = []string{"common", "helper", "helpers", "manager", "misc", "util", "utils"}
