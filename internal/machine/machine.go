// Package machine reads the state of this machine from the kernel: free disk and memory, and connections.
package machine

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// minFree is the free space, in bytes, below which the databases' disk counts as full. Transactions of a busy cloud
// are smaller.
const minFree = 512 << 10

// DiskProblem describes the problem if the databases' disk is full. It returns an empty text if the disk is not full
// or does not exist yet. The error is that of statfs(2).
func DiskProblem(p ovndb.Paths) (problem string, err error) {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(p.DB, &stat); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	} else if err != nil {
		return "", fmt.Errorf("cannot look at the disk of %s: %w", p.DB, err)
	}
	free := stat.Bavail * uint64(stat.Bsize)
	if outOfFiles := stat.Files > 0 && stat.Ffree == 0; free >= minFree && !outOfFiles {
		return "", nil
	}
	return fmt.Sprintf("%s (%d KiB free)", p.DB, free>>10), nil
}

// FreeSpace returns the free space on the disk of a directory, in bytes.
func FreeSpace(dir string) (int64, error) {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(dir, &stat); err != nil {
		return 0, fmt.Errorf("cannot look at the disk of %s: %w", dir, err)
	}
	return int64(stat.Bavail * uint64(stat.Bsize)), nil
}

// CopySpace returns the space, in bytes, that is needed to copy files of these sizes one after the other: at one
// time, two copies of the largest exist.
func CopySpace(sizes ...int64) (need int64) {
	var largest int64
	for _, size := range sizes {
		need, largest = need+size, max(largest, size)
	}
	return need + largest
}

// AvailableMemory returns the memory, in bytes, that programs can get without swapping (MemAvailable in proc(5)).
func AvailableMemory() (available int64, known bool) {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		if rest, found := strings.CutPrefix(line, "MemAvailable:"); found {
			kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return kib << 10, err == nil
		}
	}
	return 0, false
}

// connectionTables are the kernel's tables of connections, for this process's network (proc_pid_net(5)). The second
// one also has connections of IPv4 to a socket of IPv6.
var connectionTables = []string{"/proc/self/net/tcp", "/proc/self/net/tcp6"}

// CountClients counts the connections from the network to the server of each database, as the kernel sees them. These
// include the connection of each ovn-northd. The server's `memory/show` would not do: it also counts sessions of this
// machine's sockets, doesn't show the data in the kernel, and answers late if the server is busy.
//
// CountClients reads the tables once for all databases: for each read the kernel reads its whole hash table, 262,144
// places on a machine with 24 GiB, which takes milliseconds.
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

func readConnections() (tables []byte, err error) {
	for _, path := range connectionTables {
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // the kernel has no IPv6
		}
		if err != nil {
			return nil, err
		}
		tables = append(tables, text...)
	}
	return tables, nil
}

// ConnectedTo returns the addresses and ports to which this machine has connections, for a server that can't report
// to which member each of its connections leads.
func ConnectedTo() (all []netip.AddrPort, err error) {
	tables, err := readConnections()
	if err != nil {
		return nil, fmt.Errorf("cannot list connections: %w", err)
	}
	// An address is one or four numbers of 32 bits, each in the machine's byte order.
	for words := range connections(tables) {
		host, text, _ := strings.Cut(words[2], ":")
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
	return all, nil
}

// established is TCP_ESTABLISHED in the kernel's include/net/tcp_states.h.
const established = "01"

// connections returns the lines of established connections. The columns are: number, local address, remote address,
// state, data in flight out and in, and others. Numbers are hexadecimal (get_tcp4_sock() in net/ipv4/tcp_ipv4.c).
func connections(tables []byte) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		for line := range strings.Lines(string(tables)) {
			words := strings.Fields(line)
			if len(words) >= 5 && words[3] == established && !yield(words) {
				return
			}
		}
	}
}

func countConnections(tables []byte, ports []uint16) (c ovndb.Clients) {
	for words := range connections(tables) {
		_, text, _ := strings.Cut(words[1], ":")
		port, err := strconv.ParseUint(text, 16, 16)
		if err != nil || !slices.Contains(ports, uint16(port)) {
			continue
		}
		c.Connected++
		if strings.Trim(words[4], "0:") != "" {
			c.Busy++
		}
	}
	return c
}
