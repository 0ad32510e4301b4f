// Package ctxio has readers whose reads fail after a context has ended.
package ctxio

import (
	"context"
	"io"
)

// NewReader returns a reader of r that fails with ctx's error after ctx has ended.
func NewReader(ctx context.Context, r io.Reader) io.Reader { return &reader{ctx, r} }

type reader struct {
	ctx context.Context //nolint:containedctx // a reader is made for one call
	io.Reader
}

func (r *reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}
