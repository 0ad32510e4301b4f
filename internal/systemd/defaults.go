package systemd

import (
	"bytes"
	"fmt"
	"maps"
	"net/netip"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// optionsVariable has the options that the services' units pass to ovn-ctl.
const optionsVariable = "OVN_CTL_OPTS"

// Defaults are the options with which ovn-ctl starts the servers of one unit.
type Defaults struct {
	// Local is this unit's address of the members' connections.
	Local netip.Addr
	// Remote is another unit's address; the zero value means none. The server takes its remotes from the database file.
	// With a remote, ovn-ctl doesn't create a cluster if there is no file, and doesn't initialise the database.
	Remote      netip.Addr
	Credentials ovndb.Credentials
}

// Render returns the text of [ovndb.Paths.Defaults], which systemd reads as an
// EnvironmentFile. It has no listeners for clients: those are rows in the databases.
func (d Defaults) Render() []byte {
	out := new(bytes.Buffer)
	out.WriteString("# Written by the charm ovn-central. Changes are overwritten.\n" +
		"# The clusters that the servers join are named in the database files.\n" +
		optionsVariable + "=\"")
	for _, database := range ovndb.Databases() {
		port, short := int(ovndb.RaftPort(database)), database.Short()
		d.cluster(out, short, "local", d.Local, port)
		if d.Remote.IsValid() {
			d.cluster(out, short, "remote", d.Remote, port)
		}
		option(out, "ovn-"+short+"-db-ssl-key", d.Credentials.Key)
		option(out, "ovn-"+short+"-db-ssl-cert", d.Credentials.Certificate)
		option(out, "ovn-"+short+"-db-ssl-ca-cert", d.Credentials.CA)
	}
	out.WriteString("\"\n")
	return out.Bytes()
}

// cluster writes the address of one end of the members' connections. ovn-ctl joins
// address and port, so an IPv6 address needs brackets.
func (d Defaults) cluster(out *bytes.Buffer, short, end string, addr netip.Addr, port int) {
	host := addr.String()
	if addr.Is6() {
		host = "[" + host + "]"
	}
	prefix := "db-" + short + "-cluster-" + end
	option(out, prefix+"-addr", host)
	option(out, prefix+"-port", fmt.Sprint(port))
	option(out, prefix+"-proto", "ssl")
}

// option writes one option on a line of its own. A backslash continues the line before.
func option(out *bytes.Buffer, name, value string) {
	fmt.Fprintf(out, "\\\n    --%s=%s ", name, value)
}

// Options are options of ovn-ctl by their names without dashes.
type Options map[string]string

// parseOptions splits the value of OVN_CTL_OPTS. If an option is given twice, the last counts, as for ovn-ctl.
func parseOptions(value string) Options {
	options := make(Options)
	for field := range strings.FieldsSeq(value) {
		name, value, _ := strings.Cut(field, "=")
		options[strings.TrimLeft(name, "-")] = value
	}
	return options
}

// ParseEnvironment reads the format of systemd.exec(5) for EnvironmentFile=, as far as
// ovn-ctl's options need it: comments, continued lines and quotes around a value.
func ParseEnvironment(text []byte) map[string]string {
	variables := make(map[string]string)
	joined := strings.ReplaceAll(string(text), "\\\n", " ")
	for line := range strings.Lines(joined) {
		line = strings.TrimSpace(line)
		name, value, ok := strings.Cut(line, "=")
		if !ok || strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";") {
			continue
		}
		variables[strings.TrimSpace(name)] = strings.Trim(strings.TrimSpace(value), `"'`)
	}
	return variables
}

// NeedsRestart reports whether servers that were started with the text old of [ovndb.Paths.Defaults] need a restart for
// the text next. Layout and comments don't count, nor do the remotes: a server that has its file ignores them.
func NeedsRestart(old, next []byte) bool {
	return !maps.Equal(lasting(old), lasting(next))
}

// lasting returns the variables and options that a running server depends on.
func lasting(text []byte) map[string]string {
	variables := ParseEnvironment(text)
	options := parseOptions(variables[optionsVariable])
	delete(variables, optionsVariable)
	for name, value := range options {
		if !strings.Contains(name, "-cluster-remote-") {
			variables["--"+name] = value
		}
	}
	return variables
}
