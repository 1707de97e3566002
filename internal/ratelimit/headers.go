package ratelimit

import (
	"net/http"
	"strconv"
)

// The header names as sent. They are not in Go's canonical form and are used
// as map keys directly: read them from the server's own header map, or from a
// ResponseRecorder, by index, because Header.Get does not find them there. It
// does on a client, where names are canonicalised.
const (
	LimitHeader     = "X-RateLimit-Limit"
	RemainingHeader = "X-RateLimit-Remaining"
	ResetHeader     = "X-RateLimit-Reset"
	FieldHeader     = "RateLimit"        // draft-ietf-httpapi-ratelimit-headers
	PolicyHeader    = "RateLimit-Policy" // from the same draft
)

// Set sets the rate-limit headers, replacing existing ones. It runs for every
// response, so all values are slices of one string and one array.
func Set(h http.Header, d Decision) {
	const policy, field, window = `"hour";q=`, `"hour";r=`, `;w=3600`
	var space [128]byte
	b := append(space[:0], policy...)
	b = strconv.AppendInt(b, d.Limit, 10)
	limitEnd := len(b)
	b = append(b, window...)
	policyEnd := len(b)
	b = append(b, field...)
	b = strconv.AppendInt(b, d.Remaining, 10)
	remainingEnd := len(b)
	b = append(b, ";t="...)
	b = strconv.AppendInt(b, d.ResetIn, 10)
	fieldEnd := len(b)
	b = strconv.AppendInt(b, d.Reset, 10)

	s := string(b)
	v := &[...]string{
		s[len(policy):limitEnd],
		s[policyEnd+len(field) : remainingEnd],
		s[fieldEnd:],
		s[policyEnd:fieldEnd],
		s[:policyEnd],
	}
	// The third index keeps an Add to one header from overwriting the next.
	h[LimitHeader] = v[0:1:1]
	h[RemainingHeader] = v[1:2:2]
	h[ResetHeader] = v[2:3:3]
	h[FieldHeader] = v[3:4:4]
	h[PolicyHeader] = v[4:5:5]
}
