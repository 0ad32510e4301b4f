// Package jsonrpc makes of a connection what [rpc2.NewClientWithCodec] takes.
package jsonrpc

import (
	"net"

	"github.com/cenkalti/rpc2"
)

// NewJSONCodec returns the connection as it is: a client speaks nothing but JSON-RPC.
func NewJSONCodec(conn net.Conn) rpc2.Codec { return conn }
