package client

import (
	"iter"
	"net/url"
	"strconv"
)

// maxLimit is the maximum number of records on a page.
const maxLimit = 100

// Page is one page of a list.
type Page[T any] struct {
	Data       []T        `json:"data"`
	Pagination Pagination `json:"pagination"`
}

// Pagination is the position of a page in its list. Total counts all matching
// records.
type Pagination struct {
	Page  int `json:"page"`
	Limit int `json:"limit"`
	Total int `json:"total"`
}

// CursorPage is one page of a log. NextCursor is the position after it.
type CursorPage[T any] struct {
	Data       []T    `json:"data"`
	NextCursor string `json:"next_cursor"`
}

// walkPages yields the records of all pages from first. It stops after an
// error, or when it reaches the total given by the last page.
func walkPages[T any](first int, fetch func(page int) (*Page[T], error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for number := first; ; number++ {
			page, err := fetch(number)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, record := range page.Data {
				if !yield(record, nil) {
					return
				}
			}
			if len(page.Data) == 0 || number*page.Pagination.Limit >= page.Pagination.Total {
				return
			}
		}
	}
}

// walkFrom yields the records of all pages from the first that a query asks
// for, with as many on a page as it asks for; 0 is the first page, and the
// maximum number.
func walkFrom[T any](page, limit int, fetch func(page, limit int) (*Page[T], error)) iter.Seq2[T, error] {
	if limit == 0 {
		limit = maxLimit
	}
	return walkPages(max(page, 1), func(number int) (*Page[T], error) { return fetch(number, limit) })
}

// pageQuery returns the parameters of one page. A zero is left out.
func pageQuery(page, limit int) url.Values {
	q := url.Values{}
	setNumber(q, "page", page)
	setNumber(q, "limit", limit)
	return q
}

// setNumber adds a parameter unless n is zero. Numbers out of range are sent
// too, so that the service can reject them.
func setNumber(q url.Values, name string, n int) {
	if n != 0 {
		q.Set(name, strconv.Itoa(n))
	}
}

// setGiven sets a number that may be zero.
func setGiven(q url.Values, name string, n *int) {
	if n != nil {
		q.Set(name, strconv.Itoa(*n))
	}
}

func setText(q url.Values, name, text string) {
	if text != "" {
		q.Set(name, text)
	}
}
