// Package ctxio has readers that end with a context.
package ctxio

import (
	"context"
	"io"
)

// NewReader reads from r until ctx has ended, whose error is the answer from then on.
func NewReader(ctx context.Context, r io.Reader) io.Reader { return &reader{ctx, r} }

type reader struct {
	ctx context.Context //nolint:containedctx // it is of one call, as the reader is
	io.Reader
}

func (r *reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}
