package api

import (
	"bytes"
	"compress/gzip"
	"strings"
	"sync"
)

// gzipFrom is the smallest size worth compressing.
const gzipFrom = 1400

type compressor struct {
	out bytes.Buffer
	w   *gzip.Writer
}

var compressors = sync.Pool{New: func() any {
	w, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is a constant
	}
	return &compressor{w: w}
}}

// compress returns the gzipped body, which is valid until release is called.
func compress(body []byte) (compressed []byte, release func()) {
	c := compressors.Get().(*compressor)
	c.out.Reset()
	c.w.Reset(&c.out)
	_, _ = c.w.Write(body) // a buffer never fails
	_ = c.w.Close()
	return c.out.Bytes(), func() { compressors.Put(c) }
}

// acceptsGzip reports whether the caller accepts gzip.
func acceptsGzip(header []string) bool {
	for _, line := range header {
		for part := range strings.SplitSeq(line, ",") {
			coding, q, _ := strings.Cut(strings.TrimSpace(part), ";")
			if strings.EqualFold(strings.TrimSpace(coding), "gzip") {
				q = strings.ReplaceAll(q, " ", "")
				return q != "q=0" && q != "q=0.0" && q != "q=0.00" && q != "q=0.000"
			}
		}
	}
	return false
}
