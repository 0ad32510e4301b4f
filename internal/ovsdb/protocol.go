package ovsdb

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// protocolTimeout limits the check whether a server speaks TLS.
const protocolTimeout = time.Second

// late returns the cause of a timeout. The Raft port accepts connections and never answers clients.
func late(endpoint string) string {
	text := "no answer before the deadline"
	_, port, _ := net.SplitHostPort(endpoint[strings.Index(endpoint, ":")+1:])
	for _, d := range ovndb.Databases() {
		if port == strconv.Itoa(int(ovndb.RaftPort(d))) {
			text += fmt.Sprintf(": port %s is for other members; clients use %d", port, ovndb.ClientPorts(d)[0])
		}
	}
	return text
}

// mismatch tells whether the server expects TLS and the endpoint is without, or the reverse. It returns an empty text
// if it finds neither.
func mismatch(ctx context.Context, endpoint string) string {
	protocol, address, _ := strings.Cut(endpoint, ":")
	if protocol != "tcp" && protocol != "ssl" {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, protocolTimeout)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return ""
	}
	defer conn.Close()
	deadline, _ := ctx.Deadline()
	_ = conn.SetDeadline(deadline)
	switch {
	case protocol == "tcp" && speaksTLS(ctx, conn):
		return "the server expects TLS there: use ssl:" + address
	case protocol == "ssl" && speaksJSON(conn):
		return "the server speaks no TLS there: use tcp:" + address
	}
	return ""
}

// explained returns the text of a connection's error. It adds what an operator may have given wrong.
func explained(err error, text string) string {
	switch {
	case errors.As(err, new(x509.UnknownAuthorityError)):
		return text + ": the server's certificate is not of the CA that was given"
	case strings.Contains(text, "remote error: tls: ") && strings.Contains(text, "certificate"):
		return text + ": the server does not accept the certificate that was given"
	case strings.HasPrefix(text, "target database"), strings.HasPrefix(text, "unknown database"):
		return text + ": is this the address of the other database?"
	}
	return text
}

// speaksTLS reports whether a server answers a TLS client's first message, even if only with an alert.
func speaksTLS(ctx context.Context, conn net.Conn) bool {
	err := tls.Client(conn, &tls.Config{InsecureSkipVerify: true}).HandshakeContext(ctx) //nolint:gosec // nothing is sent
	return err == nil || errors.As(err, new(tls.AlertError))
}

// speaksJSON reports whether a server answers a request of OVSDB's protocol without TLS.
func speaksJSON(conn net.Conn) bool {
	if _, err := conn.Write([]byte(`{"method":"echo","params":[],"id":0}`)); err != nil {
		return false
	}
	first := make([]byte, 1)
	n, err := conn.Read(first)
	return err == nil && n == 1 && first[0] == '{'
}
