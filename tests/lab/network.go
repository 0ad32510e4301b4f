package lab

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// Where units are in the lab's network, 127.X.Y.0/24: unit n has .10+n. The first
// address is the lab's own, and its port is held as long as the lab's owner lives.
const (
	firstHost    = 10
	lastHost     = 254
	reservedHost = 1
	reservedPort = 6640
)

// tries is how many networks are looked at. There are 64,000: the second one
// being taken too is no chance any more.
const tries = 20

// reserve finds a network that no other lab uses and holds it. Only addresses of
// 127.0.0.0/8 are used.
func reserve() (network string, hold net.Listener, err error) {
	for range tries {
		network = fmt.Sprintf("127.%d.%d", 1+rand.IntN(250), rand.IntN(256))
		hold, err = net.Listen("tcp", address(network, reservedHost, reservedPort))
		if err != nil {
			continue
		}
		if err = free(network); err == nil {
			return network, hold, nil
		}
		hold.Close()
	}
	return "", nil, fmt.Errorf("cannot find a free network on the loopback: %w", err)
}

// free says whether nothing listens where the first unit's servers will.
func free(network string) error {
	for _, db := range Databases {
		for _, port := range []int{db.ClientPort(), db.RaftPort()} {
			listener, err := net.Listen("tcp", address(network, firstHost, port))
			if err != nil {
				return err
			}
			listener.Close()
		}
	}
	return nil
}

func address(network string, host, port int) string {
	return net.JoinHostPort(fmt.Sprintf("%s.%d", network, host), strconv.Itoa(port))
}
