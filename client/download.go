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

// download is a file on its way to a writer. A try that breaks off is followed
// by one for the rest.
type download struct {
	w       io.Writer
	written int64
	sum     hash.Hash
	etag    string
}

// DownloadReport writes the file of a completed report to w, and gives its
// size. It never holds the file in memory. When the connection breaks, the
// rest is asked for; at the end the bytes are held against the checksum. It
// needs the scope reports:read and the scopes of the data the report is made
// of.
func (c *Client) DownloadReport(ctx context.Context, id string, w io.Writer) (int64, error) {
	d := &download{w: w, sum: sha256.New()}
	call := &call{op: "download report", method: http.MethodGet, path: []string{"v1", "reports", id, "download"}, download: d}
	if _, err := c.do(ctx, call, nil); err != nil {
		return d.written, err
	}
	if got := `"` + hex.EncodeToString(d.sum.Sum(nil)) + `"`; got != d.etag {
		return d.written, fmt.Errorf("anodyne: download report: the bytes are not those of the file")
	}
	return d.written, nil
}

// ask says which bytes are still wanted.
func (d *download) ask(h http.Header) {
	h.Set("Accept", "*/*")
	h.Set("Accept-Encoding", "identity")
	if d.written > 0 {
		h.Set("Range", fmt.Sprintf("bytes=%d-", d.written))
		h.Set("If-Range", d.etag)
	}
}

// take writes what came. An error of the writer ends the call; one of the
// connection lets it be tried again.
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
