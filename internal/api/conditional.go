package api

import (
	"net/http"
	"strconv"
	"strings"

	"anodyne.example/anodyne/internal/fault"
)

// versionTag is the entity tag of a record's version.
func versionTag(version int64) string {
	if version == 1 { // as most are
		return `"1"`
	}
	return `"` + strconv.FormatInt(version, 10) + `"`
}

// notModified reports whether the caller has this version already.
func notModified(h http.Header, tag string) bool {
	header, given := h["If-None-Match"]
	return given && listed(header, tag, true)
}

// guard fails when If-Match names another version.
func guard(h http.Header, tag string) error {
	header, given := h["If-Match"]
	if !given || listed(header, tag, false) {
		return nil
	}
	return fault.New(fault.PreconditionFailed, "The record has changed; read it again and repeat the change.", "etag", tag)
}

// listed reports whether a tag is in a list of tags, or the list is "*".
// If-None-Match compares weakly, If-Match strongly (RFC 9110, 8.8.3.2).
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
