package machine

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// connectionTables are the kernel's, of the network that this process is in
// (proc_pid_net(5)). The second also has those of IPv4 to a socket of IPv6.
var connectionTables = []string{"/proc/self/net/tcp", "/proc/self/net/tcp6"}

// CountClients counts the connections from the network to the server of each database, with that of each ovn-northd.
// The numbers are the kernel's, not the server's: the server's `memory/show` also counts the sessions of this machine's
// sockets, doesn't show the data that is on its way in the kernel, and answers late if the server is busy with clients.
//
// The tables are read once for all databases: the kernel reads its whole hash table for that,
// 262,144 places on a machine with 24 GiB, which takes milliseconds.
func CountClients() (map[ovndb.Database]ovndb.Clients, error) {
	tables, err := readConnections()
	if err != nil {
		return nil, fmt.Errorf("cannot count the clients: %w", err)
	}
	counted := map[ovndb.Database]ovndb.Clients{}
	for _, d := range ovndb.Databases() {
		counted[d] = countConnections(tables, ovndb.ClientPorts(d))
	}
	return counted, nil
}

func readConnections() (tables [][]byte, err error) {
	for _, path := range connectionTables {
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // a kernel without IPv6
		}
		if err != nil {
			return nil, err
		}
		tables = append(tables, text)
	}
	return tables, nil
}

// ConnectedTo returns the addresses and ports to which this machine has connections. It is for a server that can't
// report which member each of its connections leads to.
func ConnectedTo() ([]netip.AddrPort, error) {
	tables, err := readConnections()
	if err != nil {
		return nil, fmt.Errorf("cannot list connections: %w", err)
	}
	return connectedTo(tables), nil
}

// connectedTo reads tables. An address is one or four numbers of 32 bits, each in the machine's own order.
func connectedTo(tables [][]byte) (all []netip.AddrPort) {
	for line := range bytes.Lines(bytes.Join(tables, nil)) {
		words := bytes.Fields(line)
		if len(words) < 5 || string(words[3]) != established {
			continue
		}
		host, text, _ := strings.Cut(string(words[2]), ":")
		raw, err := hex.DecodeString(host)
		port, bad := strconv.ParseUint(text, 16, 16)
		if err != nil || bad != nil || len(raw)%4 != 0 {
			continue
		}
		for i := 0; i < len(raw); i += 4 {
			binary.NativeEndian.PutUint32(raw[i:], binary.BigEndian.Uint32(raw[i:]))
		}
		if address, ok := netip.AddrFromSlice(raw); ok {
			all = append(all, netip.AddrPortFrom(address.Unmap(), uint16(port)))
		}
	}
	return all
}

// established is TCP_ESTABLISHED in the kernel's include/net/tcp_states.h.
const established = "01"

// countConnections reads tables. The columns are: number, local address, remote address, state, what is on its way out
// and in, and more; numbers are hexadecimal (get_tcp4_sock() in net/ipv4/tcp_ipv4.c).
func countConnections(tables [][]byte, ports []uint16) (c ovndb.Clients) {
	for line := range bytes.Lines(bytes.Join(tables, nil)) {
		words := bytes.Fields(line)
		if len(words) < 5 || string(words[3]) != established {
			continue
		}
		_, text, _ := bytes.Cut(words[1], []byte{':'})
		port, err := strconv.ParseUint(string(text), 16, 16)
		if err != nil || !slices.Contains(ports, uint16(port)) {
			continue
		}
		c.Connected++
		if len(bytes.Trim(words[4], "0:")) > 0 {
			c.Busy++
		}
	}
	return c
}
