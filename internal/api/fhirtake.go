package api

import (
	"net/http"
	"strconv"
	"strings"

	"anodyne.example/anodyne/internal/fhirwrite"
)

// requestsOf returns how many requests a Bundle counts as: one for each entry
// that reads or searches, which costs as much as alone, and one for every 50
// that write, which are stored together.
func requestsOf(b *fhirwrite.Bundle) int {
	reads, writes := 0, 0
	for i := range b.Entry {
		path, _, _ := strings.Cut(b.Entry[i].Request.URL, "?")
		switch method := b.Entry[i].Request.Method; {
		case (method == http.MethodPost || method == http.MethodPut) && !strings.HasSuffix(path, "/_search"):
			writes++
		default:
			reads++
		}
	}
	return max(1, reads+(writes+writesPerRequest-1)/writesPerRequest)
}

// takeEntries counts the entries of a Bundle against the rate limit, of which
// one request was counted before. A Bundle that is refused as far as this
// process knows the window costs nothing more.
func (x *exchange) takeEntries(b *fhirwrite.Bundle) error {
	n, limit := requestsOf(b), x.principal.Tier.Limit()
	if int64(n) > limit {
		return refuse(http.StatusBadRequest, "too-costly", "Bundle.entry", "The Bundle counts as "+strconv.Itoa(n)+" requests, more than the "+strconv.FormatInt(limit, 10)+
			" of an hour: each entry that reads counts as one, and 50 that write. Split the Bundle.")
	}
	n-- // the first was counted
	known := x.api.Limiter.Peek(x.principal.Client, limit)
	if n > 0 && known.Remaining < int64(n) {
		known.Allowed = false
		return known.Fault()
	}
	if n == 0 {
		return nil
	}
	d, err := x.api.Limiter.TakeAll(x.ctx(), x.principal.Client, limit, int64(n))
	if err != nil {
		return err
	}
	x.limited(d)
	if !d.Allowed {
		return d.Fault()
	}
	return nil
}
