package api

import (
	"net/http"
	"strconv"
	"strings"

	"anodyne.example/anodyne/internal/fault"
)

// versionTag returns the entity tag of a version of a record.
func versionTag(version int64) string {
	if version == 1 { // the most common case
		return `"1"`
	}
	return `"` + strconv.FormatInt(version, 10) + `"`
}

// notModified reports whether the caller already has this version.
func notModified(h http.Header, tag string) bool {
	header, given := h["If-None-Match"]
	return given && listed(header, tag, true)
}

// guard returns an error if If-Match names another version.
func guard(h http.Header, tag string) error {
	header, given := h["If-Match"]
	if !given || listed(header, tag, false) {
		return nil
	}
	return fault.New(fault.PreconditionFailed, "The record has changed; read it again and repeat the change.", "etag", tag)
}

// listed reports whether tag is in a list of tags, or the list is "*".
// If-None-Match uses weak comparison, If-Match strong comparison (RFC 9110,
// 8.8.3.2).
func listed(header []string, tag string, weakly bool) bool {
	for part := range strings.SplitSeq(strings.Join(header, ","), ",") {
		part = strings.TrimSpace(part)
		if weakly {
			part = strings.TrimPrefix(part, "W/")
		}
		if part == tag || part == "*" {
			return true
		}
	}
	return false
}
