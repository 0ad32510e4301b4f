package systemd

import (
	"bytes"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// optionsVariable has the options that the services' units pass to ovn-ctl.
const optionsVariable = "OVN_CTL_OPTS"

// Defaults are the options with which ovn-ctl starts the servers of one unit.
type Defaults struct {
	// Local is this unit's address for connections between members.
	Local netip.Addr
	// Remote is another unit's address; zero means none. With a remote, ovn-ctl does not create a cluster if there is no
	// file, and doesn't initialise the database. The server takes its remotes from the file.
	Remote      netip.Addr
	Credentials ovndb.Credentials
}

// Render returns the text of [ovndb.Paths.Defaults], an EnvironmentFile of systemd. The text has no listeners for
// clients: those are rows in the databases.
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

// cluster writes an address for connections between members. ovn-ctl appends the port to the address, so IPv6 needs
// brackets.
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

// option writes one option on its own line. The backslash at the end of the previous line continues it.
func option(out *bytes.Buffer, name, value string) {
	fmt.Fprintf(out, "\\\n    --%s=%s ", name, value)
}

// parseOptions parses the value of OVN_CTL_OPTS. It returns the names without dashes. If an option is given twice,
// the last one counts, as in ovn-ctl.
func parseOptions(value string) map[string]string {
	options := make(map[string]string)
	for field := range strings.FieldsSeq(value) {
		name, value, _ := strings.Cut(field, "=")
		options[strings.TrimLeft(name, "-")] = value
	}
	return options
}

// ParseEnvironment parses the format of EnvironmentFile= (systemd.exec(5)), as far as ovn-ctl's options need it:
// comments, continued lines and quotes around a value.
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

// NeedsRestart reports whether servers that were started with the text old of [ovndb.Paths.Defaults] need a restart
// for the text next. Layout, comments and remotes don't matter: a server that has its file ignores the remotes.
func NeedsRestart(old, next []byte) bool {
	return !maps.Equal(lasting(old), lasting(next))
}

// lasting returns the variables and options on which a running server depends.
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

// NorthdParams are the arguments that ovn-ctl passes to ovn-northd.
type NorthdParams struct {
	// Units are the addresses of all units, including this one. ovn-northd tries them to find each database's leader.
	Units       []netip.Addr
	Credentials ovndb.Credentials
}

// Render returns the text of [ovndb.Paths.NorthdParams], with the units in the given order.
func (p NorthdParams) Render() []byte {
	out := new(bytes.Buffer)
	fmt.Fprintf(out, "--ovnnb-db=%s\n", p.remotes(ovndb.NorthboundPort))
	// SB's other port forbids the writes of ovn-northd.
	fmt.Fprintf(out, "--ovnsb-db=%s\n", p.remotes(ovndb.ManagementPort))
	fmt.Fprintf(out, "-c %s\n-C %s\n-p %s\n", p.Credentials.Certificate, p.Credentials.CA, p.Credentials.Key)
	return out.Bytes()
}

func (p NorthdParams) remotes(port uint16) string {
	var remotes []string
	for _, unit := range p.Units {
		remotes = append(remotes, "ssl:"+netip.AddrPortFrom(unit, port).String())
	}
	return strings.Join(remotes, ",")
}

// NorthdNeedsRestart reports whether an ovn-northd that was started with the arguments old needs a restart for the
// arguments next. Spaces and the order of the units don't matter.
func NorthdNeedsRestart(old, next []byte) bool {
	return !slices.Equal(northdArguments(old), northdArguments(next))
}

func northdArguments(text []byte) []string {
	arguments := strings.Fields(string(text))
	for i, argument := range arguments {
		name, list, ok := strings.Cut(argument, "=")
		if !ok {
			continue
		}
		remotes := strings.Split(list, ",")
		slices.Sort(remotes)
		arguments[i] = name + "=" + strings.Join(slices.Compact(remotes), ",")
	}
	return arguments
}
