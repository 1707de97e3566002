package api

import (
	"net/http"
	"strconv"
	"strings"

	"anodyne.example/anodyne/internal/fault"
)

// part is a range of bytes of a file.
type part struct {
	from, to int64
	partial  bool
}

// rangeOf parses the Range header of a request for a file. A single range is
// supported. Multiple ranges, other units and invalid ranges get the whole
// file, as RFC 9110 allows, and so does a range of another version (If-Range).
func (x *exchange) rangeOf(size int64, tag string) (part, error) {
	whole := part{to: size}
	header := x.r.Header["Range"]
	if len(header) != 1 || x.r.Method != http.MethodGet {
		return whole, nil
	}
	if version, given := x.r.Header["If-Range"]; given && (len(version) != 1 || version[0] != tag) {
		return whole, nil
	}
	unit, spec, _ := strings.Cut(header[0], "=")
	first, last, isRange := strings.Cut(strings.TrimSpace(spec), "-")
	if !strings.EqualFold(strings.TrimSpace(unit), "bytes") || !isRange {
		return whole, nil
	}
	from, hasFrom := offset(first)
	to, hasTo := offset(last)
	switch {
	case !hasFrom && first != "" || !hasTo && last != "" || !hasFrom && !hasTo || hasFrom && hasTo && to < from:
		return whole, nil
	case hasFrom && from >= size, !hasFrom && to == 0, size == 0:
		return part{}, fault.New(fault.RangeNotSatisfiable, "The requested range is outside the file.", "size_bytes", size)
	case !hasFrom:
		return part{max(0, size-to), size, true}, nil // suffix range
	case !hasTo:
		return part{from, size, true}, nil
	}
	return part{from, min(to+1, size), true}, nil
}

// offset parses digits. A number that overflows is returned as the largest.
func offset(s string) (int64, bool) {
	s = strings.TrimSpace(s)
	if s == "" || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 62)
	if err != nil {
		return 1<<61 - 1, true
	}
	return n, true
}
