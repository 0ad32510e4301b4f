// Package jsonrpc has the codec that [rpc2.NewClientWithCodec] takes.
package jsonrpc

import (
	"net"

	"github.com/cenkalti/rpc2"
)

// NewJSONCodec returns conn itself: a client only speaks JSON-RPC.
func NewJSONCodec(conn net.Conn) rpc2.Codec { return conn }
