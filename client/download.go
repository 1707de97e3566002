package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"net/http"
)

// download is a file being written to a writer. If an attempt breaks off, the
// next one requests the rest.
type download struct {
	w       io.Writer
	written int64
	sum     hash.Hash
	etag    string
}

// DownloadReport writes the file of a completed report to w and returns its
// size. It does not hold the file in memory. If the connection breaks, it
// requests the rest of the file; at the end it verifies the checksum. It needs
// the scope reports:read and the scopes of the data in the report.
func (c *Client) DownloadReport(ctx context.Context, id string, w io.Writer) (int64, error) {
	return c.download(ctx, "download report", w, "v1", "reports", id, "download")
}

func (c *Client) download(ctx context.Context, op string, w io.Writer, path ...string) (int64, error) {
	d := &download{w: w, sum: sha256.New()}
	call := &call{op: op, method: http.MethodGet, path: path, download: d}
	if _, err := c.do(ctx, call, nil); err != nil {
		return d.written, err
	}
	if got := `"` + hex.EncodeToString(d.sum.Sum(nil)) + `"`; got != d.etag {
		return d.written, fmt.Errorf("anodyne: %s: the bytes are not those of the file", op)
	}
	return d.written, nil
}

// ask sets the headers that request the missing bytes.
func (d *download) ask(h http.Header) {
	h.Set("Accept", "*/*")
	h.Set("Accept-Encoding", "identity")
	if d.written > 0 {
		h.Set("Range", fmt.Sprintf("bytes=%d-", d.written))
		h.Set("If-Range", d.etag)
	}
}

// take writes the received bytes. A write error ends the call; a connection
// error allows another attempt.
func (d *download) take(ctx context.Context, op string, resp *http.Response) error {
	if d.written > 0 && resp.StatusCode != http.StatusPartialContent {
		return fmt.Errorf("anodyne: %s: the file has changed meanwhile", op)
	}
	d.etag = resp.Header.Get("ETag")
	buf := make([]byte, 64<<10)
	for {
		n, err := resp.Body.Read(buf)
		if n > 0 {
			if _, err := d.w.Write(buf[:n]); err != nil {
				return fmt.Errorf("anodyne: %s: write: %w", op, err)
			}
			d.sum.Write(buf[:n])
			d.written += int64(n)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return newNetError(ctx, op, err)
		}
	}
}
