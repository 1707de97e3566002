package api

import (
	"net/http"
	"slices"
)

// cors allows the configured origins to read responses in a browser and
// answers their preflight requests. It reports whether the request is
// complete. Without configured origins it sets no headers.
func (a *API) cors(x *exchange) (done bool) {
	if len(a.CORSOrigins) == 0 {
		return false
	}
	x.h["Vary"] = []string{"Origin"}
	origin := x.r.Header.Get("Origin")
	if origin == "" || !slices.Contains(a.CORSOrigins, origin) {
		return false
	}
	x.h.Set("Access-Control-Allow-Origin", origin)
	x.h.Set("Access-Control-Expose-Headers",
		"X-Request-Id, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, RateLimit, RateLimit-Policy, Retry-After, ETag, Link, Location, Idempotency-Replayed, Content-Disposition, Content-Range")
	if x.r.Method != http.MethodOptions || x.r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	x.h.Set("Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, PATCH, DELETE")
	x.h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, If-Range, Range, X-Request-Id")
	x.h.Set("Access-Control-Max-Age", "600")
	x.send(answer{status: http.StatusNoContent})
	return true
}
