package report

import (
	"context"
	"crypto/sha256"
	"hash"

	"anodyne.example/anodyne/internal/store/reports"
)

// chunks stores what is written to it as the chunks of a report or export. It
// buffers at most one.
type chunks struct {
	ctx   context.Context
	claim appender
	buf   []byte
	n     int64
	size  int64
	sum   hash.Hash
	// stored is called with the number of bytes stored so far.
	stored func(size int64)
}

// appender stores the chunks of a claim.
type appender interface {
	Append(ctx context.Context, n int64, chunk []byte) error
}

func newChunks(ctx context.Context, claim appender) *chunks {
	return &chunks{ctx: ctx, claim: claim, buf: make([]byte, 0, reports.ChunkSize), sum: sha256.New(), stored: func(int64) {}}
}

// Write stores all full chunks.
func (c *chunks) Write(p []byte) (int, error) {
	written := len(p)
	for len(p) > 0 {
		fits := min(len(p), cap(c.buf)-len(c.buf))
		c.buf = append(c.buf, p[:fits]...)
		p = p[fits:]
		if len(c.buf) == cap(c.buf) {
			if err := c.flush(); err != nil {
				return 0, err
			}
		}
	}
	return written, nil
}

// flush stores the rest. Only the last chunk may be short.
func (c *chunks) flush() error {
	if len(c.buf) == 0 {
		return nil
	}
	if err := c.claim.Append(c.ctx, c.n, c.buf); err != nil {
		return err
	}
	c.sum.Write(c.buf)
	c.size += int64(len(c.buf))
	c.n++
	c.buf = c.buf[:0]
	c.stored(c.size)
	return nil
}
