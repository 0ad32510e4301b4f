package systemd

import (
	"bytes"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// NorthdParams are the arguments that ovn-ctl gives to ovn-northd.
type NorthdParams struct {
	// Units are the addresses of all units, this one included; ovn-northd tries
	// them until it finds each database's leader.
	Units       []netip.Addr
	Credentials ovndb.Credentials
}

// Render returns the text of [ovndb.Paths.NorthdParams], the units in the given order.
func (p NorthdParams) Render() []byte {
	out := new(bytes.Buffer)
	fmt.Fprintf(out, "--ovnnb-db=%s\n", p.remotes(ovndb.NorthboundPort))
	// The other port of SB forbids the writes of ovn-northd.
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

// NorthdNeedsRestart reports whether an ovn-northd that was started with the arguments old
// needs a restart for the arguments next. Spaces and the order of the units don't count.
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
