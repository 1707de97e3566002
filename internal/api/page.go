package api

import (
	"context"
	"math"
	"net/http"
	"net/url"
	"strconv"
)

const (
	defaultLimit = 50
	maxLimit     = 100
)

// page is the requested part of a list.
type page struct{ number, limit int64 }

func (q *query) page() page {
	return page{q.number("page", 1, math.MaxInt32, 1), q.limit()}
}

func (q *query) limit() int64 { return q.number("limit", 1, maxLimit, defaultLimit) }

// listPage answers a request for a list that takes no parameters besides page
// and limit. read returns a page and the number of all items; shown is the
// number of items in the response.
func listPage[T any](x *exchange, path string, read func(ctx context.Context, page, limit int64) ([]T, int64, error), write func([]byte, *T) []byte) (done answer, shown int, err error) {
	q := x.readQuery("page", "limit")
	p := q.page()
	if err := q.err(); err != nil {
		return answer{}, 0, err
	}
	list, total, err := read(x.ctx(), p.number, p.limit)
	if err != nil {
		return answer{}, 0, err
	}
	b := append(x.buf, `{"data":[`...)
	for i := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = write(b, &list[i])
	}
	x.buf = p.appendPagination(b, total)
	return answer{status: http.StatusOK, body: x.buf, link: p.link(path, total, nil)}, len(list), nil
}

// appendPagination ends a list: ],"pagination":{...}}.
func (p page) appendPagination(b []byte, total int64) []byte {
	b = append(b, `],"pagination":{"page":`...)
	b = strconv.AppendInt(b, p.number, 10)
	b = append(b, `,"limit":`...)
	b = strconv.AppendInt(b, p.limit, 10)
	b = append(b, `,"total":`...)
	b = strconv.AppendInt(b, total, 10)
	return append(b, "}}"...)
}

// link returns the Link header of a list, with relative URLs of the first,
// previous, next and last page. extra holds the other query parameters.
func (p page) link(path string, total int64, extra url.Values) string {
	last := max(1, (total+p.limit-1)/p.limit)
	suffix := "&limit=" + strconv.FormatInt(p.limit, 10)
	if len(extra) > 0 {
		suffix += "&" + extra.Encode()
	}
	b := make([]byte, 0, 256)
	to := func(number int64, rel string) {
		if len(b) > 0 {
			b = append(b, ", "...)
		}
		b = append(append(b, '<'), path...)
		b = append(b, "?page="...)
		b = strconv.AppendInt(b, number, 10)
		b = append(append(b, suffix...), `>; rel="`...)
		b = append(append(b, rel...), '"')
	}
	to(1, "first")
	if p.number > 1 {
		to(min(p.number-1, last), "prev")
	}
	if p.number < last {
		to(p.number+1, "next")
	}
	to(last, "last")
	return string(b)
}
